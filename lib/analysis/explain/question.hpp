#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// A moment of a run.
struct At {
  enum class Kind {
    usual,          ///< the first OOM; where none was, the live peak
    oom,            ///< the first request that was not served
    peak,           ///< most is live
    reserved_peak,  ///< the first moment with most live, among those with most reserved
    event,          ///< right after it
  };
  Kind kind = Kind::usual;
  std::uint64_t event = 0;
};

/// Why did the devices of recordings need what they needed?
struct ExplainQuestion {
  std::optional<StrategySpec> strategy;  ///< whose memory; unset: as recorded, where that shows
  Setup setup;                           ///< the release, the start, and the device
  At at;                                 ///< the moment that is looked at
  std::vector<Phase> phases;             ///< beside those that recordings annotate
  PlaceBy by = PlaceBy::place;           ///< what counts as a place
  bool tree = false;                     ///< who called the places
  bool stacks = false;                   ///< memory by whole stacks
  bool by_phase = false;                 ///< who holds most at the peak of each phase, or step
  bool growth = false;                   ///< what is live after each step instead of why it failed
  std::size_t rows = 10;                 ///< rows of each table of the text
  /// Settings to try. Unset: where a search decides over the verdict, as many as `tune` tries, else
  /// 200, fewer for long recordings.
  std::optional<std::uint64_t> runs;
  bool among_others = false;  ///< the recording is one of several that are asked about
};

}  // namespace memreplay
