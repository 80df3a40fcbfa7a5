#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// Why did the devices of recordings need what they needed?
struct ExplainQuestion {
  std::optional<StrategySpec> strategy;  ///< whose memory; nothing: as recorded, where that shows
  Setup setup;                           ///< the release, the start, and the device
  std::optional<std::uint64_t> at;       ///< look at the memory right before this event
  std::vector<Phase> phases;             ///< beside those that recordings annotate
  /// Of the replays that look for a setting that helps, altogether; at least eight are made.
  std::uint64_t search_events = 300'000'000;
  std::uint64_t most_settings = 200;
};

}  // namespace memreplay
