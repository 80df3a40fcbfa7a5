#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "program/verdict.hpp"
#include "questions/settings/result.hpp"
#include "run/answer.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

struct Control;
class Inputs;
struct TuneQuestion;

/// A search over the settings of one or several traces.
struct TuneAnswer {
  std::vector<TraceSummary> traces;
  std::vector<DeviceSummary> devices;                           ///< by trace
  std::vector<std::optional<VerifyRun>> model_checks;           ///< by trace
  std::vector<std::optional<StateBeyondDevice>> states_beyond;  ///< by trace
  std::vector<std::string> remarks;  ///< sentences without which it would mislead
  bool interrupted = false;
  /// No recording requests anything: nothing was tried, and `result` is empty.
  bool nothing_requested = false;
  TuneResult result;
  LateVerdict late = {};  ///< what recordings that start late leave of the recommendation
  std::optional<Refusal> refusal = {};   ///< the first one under the baseline
  JudgedRefusal judged_refusal() const;  ///< where there is one
  OomVerdict verdict = {};               ///< on it
};

/// Searches for the setting of PyTorch's allocator that suits all these recordings best. Throws
/// UsageError where the question does not fit them.
TuneAnswer answer(const Inputs& inputs, const TuneQuestion& question, const Control& control);

/// Which settings of an allocator need the least?
struct TuneQuestion {
  /// The allocator's, with options that stay; unset: PyTorch's, the recorded ones first.
  std::optional<StrategySpec> strategy;
  Setup setup;  ///< the release and the device; no capacity: what was recorded
  /// What is to be least, after OOMs; unset: reserved bytes, and where the device was full retries
  /// before them.
  std::optional<Objective> objective;
  std::optional<std::uint64_t> runs;  ///< settings to try; unset: 1000, fewer for long recordings
  std::optional<double> seconds;      ///< no batch of replays is begun after them
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::set<std::string> allowed;        ///< options to vary; empty: all
  std::set<std::string> forbidden;      ///< options that keep their default
  std::vector<std::string> insertions;  ///< "empty_cache@WHERE": as if it were called there
};

}  // namespace memreplay
