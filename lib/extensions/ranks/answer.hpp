#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/siphash.hpp"
#include "core/units.hpp"
#include "metrics/run_metrics.hpp"
#include "questions/explain/answer.hpp"
#include "questions/tune/answer.hpp"
#include "run/inputs.hpp"
#include "run/rank_files.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// One strategy on the recording of one rank.
struct RankRun {
  std::string strategy;
  Bytes peak_requested = 0;
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  std::uint64_t ooms = 0;
  std::uint64_t oom_retries = 0;
  std::optional<std::uint64_t> first_oom;      ///< event
  std::optional<BytesInterval> peak_interval;  ///< set for an estimate: the recording does not tell

  Bytes gap() const { return peak_reserved > peak_allocated ? peak_reserved - peak_allocated : 0; }
};

/// What a rank has on another device than the one that counts for it.
struct RankElsewhere {
  int gpu = 0;
  Bytes peak_reserved = 0;  ///< under the first strategy
  std::string place;        ///< call site of its first request; empty: not recorded
};

/// What is kept of the recording of a rank.
struct RankRow {
  std::uint64_t rank = 0;
  std::string path;
  int gpu = 0;
  std::vector<RankElsewhere> elsewhere;  ///< by device
  std::uint64_t events = 0;
  Hash128 stream;                 ///< hash of all that the program asks for
  std::vector<RankRun> runs;      ///< by strategy
  RecordingFacts facts;           ///< not whole: its peaks are lower bounds
  std::optional<Bytes> capacity;  ///< its device's, where it is known

  /// The device of its own number, where it has memory there; else the one that counts for it.
  int home() const;
  /// What it has on others, the one that counts for it among them.
  std::vector<RankElsewhere> away() const;
};

/// A quantity of a rank that is laid beside those of others.
struct RankMetric {
  std::string_view name;  ///< in the JSON
  std::string_view word;  ///< on screen
  bool in_bytes = true;
  std::uint64_t (*of)(const RankRow&, const RankRun&) = nullptr;
};

/// peak_reserved_bytes first.
const std::vector<RankMetric>& rank_metrics();

/// A file that could not be read.
struct UnreadableRank {
  std::uint64_t rank = 0;
  std::string path;
  std::string message;  ///< "FILE:PLACE: what is wrong"
};

/// What one machine found out of its share of the files, or several of theirs.
struct RanksPart {
  std::string file;   ///< that it was read from; empty: none
  std::string asked;  ///< how they were replayed: only equal ones can be merged
  RanksFrom ranks_from = RanksFrom::names;
  std::size_t of = 1;
  std::set<std::size_t> shards;  ///< from 1
  std::uint64_t others = 0;      ///< files of the folders that are no recordings
  std::vector<RankRow> rows;     ///< by rank
  std::vector<UnreadableRank> unreadable;
  /// The requests of the lowest rank of each class, packed.
  struct Stream {
    std::uint64_t rank = 0;
    std::string packed;
  };
  std::map<Hash128, Stream> streams;
  std::vector<std::string> notes;  ///< said while reading; not part of what is merged
  bool interrupted = false;

  bool is_whole() const { return shards.size() == of; }
};

/// A part as text, for another machine: JSON of the schema "memreplay-ranks-part/1".
std::string part_text(const RanksPart& part);

/// A call at which two programs part.
struct DepartingCall {
  std::string what;  ///< "request", "refused", "free", "empty_cache", "safe_frontier", "start"
  Bytes size = 0;
  std::string place;  ///< call site; empty: not recorded
};

/// Where a class does something else than another.
struct Departure {
  std::size_t from = 0;          ///< the other class
  std::uint64_t event = 0;       ///< in the recording of this class's representative
  std::uint64_t twin_event = 0;  ///< in that of the other's
  /// Unset: the recording ends there.
  std::optional<DepartingCall> call;
  std::optional<DepartingCall> twin_call;
};

/// Ranks that ask for the same, in the same order.
struct RankClass {
  std::vector<std::uint64_t> ranks;
  std::string representative;  ///< path of the lowest
  Hash128 stream;
  std::optional<Departure> departure;  ///< unset: it begins like no larger class
};

struct Spread {
  std::uint64_t min = 0, median = 0, max = 0;
  std::uint64_t min_rank = 0, max_rank = 0;
};

/// All ranks under one strategy.
struct RanksUnder {
  std::string strategy;
  std::size_t worst = 0;            ///< index of the row with most OOMs, then most reserved
  std::uint64_t out_of_memory = 0;  ///< ranks with an OOM
  std::vector<Spread> spreads;      ///< by rank_metrics()
};

/// Ranks side by side that seem to do the same part of the work.
struct RankStage {
  std::uint64_t first = 0, last = 0;
  Bytes peak_reserved = 0;  ///< the most of them
};

struct RanksAnswer {
  RanksPart part;                  ///< its rows by how they fare, the worst first
  std::vector<RankClass> classes;  ///< the largest first
  std::vector<RanksUnder> under;   ///< by strategy; none without rows
  std::size_t best = 0;           ///< index into `under`: fewest OOMs, then the lowest highest peak
  std::vector<RankStage> stages;  ///< guessed from the classes; empty: nothing to see
  std::optional<ExplainedDevice> why;  ///< the worst rank ran out of memory; unset: not looked at
  std::optional<TuneAnswer> tuned;     ///< one setting for all; unset: not asked for

  std::size_t class_of(const RankRow& row) const;
  /// The ranks that have memory on this device and work there: on no other, or it has their number.
  std::vector<std::uint64_t> owners_of(int gpu) const;
  /// The worst rank, under the first strategy.
  bool ran_out() const { return !part.rows.empty() && part.rows.front().runs.front().ooms > 0; }
};

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

/// Whether recordings that were given together are ranks of one program: their names say so, or
/// they make the same requests, as far as they go.
bool are_ranks(const std::vector<std::string>& paths, const RanksAnswer& answer);

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
