#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "analysis/run/setup.hpp"
#include "analysis/tune/answer.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

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
