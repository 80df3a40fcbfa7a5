#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/ranks/answer.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// Which rank needs most, and which are alike?
struct RanksQuestion {
  InputOptions input;                    ///< recordings, and folders that are searched for them
  std::vector<StrategySpec> strategies;  ///< empty: that of each recording, see usual_strategy
  Setup setup;
  unsigned jobs = std::max(1u, std::thread::hardware_concurrency());  ///< recordings at once
  /// One of several machines takes every `of`-th file.
  struct Shard {
    std::size_t number = 1;  ///< from 1
    std::size_t of = 1;
  } shard;
};

/// Reads and replays the recordings, `jobs` at a time, and keeps a row of each: it needs the memory
/// for so many recordings, and for one stream of requests in each class. Throws UsageError where
/// two files are of one rank, or the question does not fit a recording.
RanksPart ranks_part(const RanksQuestion& question, const Control& control);

/// The parts as one, in any order. Throws UsageError where they do not belong together.
RanksPart merged(std::vector<RanksPart> parts);

/// What the rows of a part come to.
RanksAnswer answer(RanksPart part);

/// Says why the worst rank ran out of memory, where it did: its recording is read again. Where it
/// cannot be read nothing is said.
void explain_worst(RanksAnswer& answer, const RanksQuestion& question, const Control& control);

/// Searches one setting of PyTorch's allocator for all ranks, on the recording of one of each
/// class, which are read again and all at once in memory. Throws InputError where one cannot be.
void tune(RanksAnswer& answer, const RanksQuestion& question, const Control& control);

/// Reads what part_text wrote. Throws InputError.
RanksPart read_part(const std::string& path);
/// Reads such a text; `path` is for messages.
RanksPart parse_part(const std::string& path, const std::string& text);

}  // namespace memreplay
