#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/live_blocks.hpp"
#include "analysis/recorded/steps.hpp"
#include "replay/trial.hpp"

namespace memreplay {

/// The most that was held in the events [from, to).
struct SpanPeak {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Bytes requested = 0;
  std::optional<Bytes> allocated;  ///< of replays
  std::optional<Bytes> reserved;   ///< after an event; nothing: not recorded
  /// One behind the first event at which the most was allocated, requested where that is not
  /// known; `from`: never more than at its beginning.
  std::uint64_t behind = 0;
};

/// How much one side of a comparison holds, and when.
struct SidePeaks {
  Steps steps;
  std::vector<SpanPeak> spans;  ///< by step; the first is what comes before step 1
  SpanPeak whole;
  std::optional<ReplayResult> replay;   ///< nothing: as recorded
  std::vector<std::uint64_t> unserved;  ///< events of the replay, ascending

  /// What is live at the peak of a span, of what was served.
  std::vector<LiveBlock> live_at(const SpanPeak& span, const Trace& trace) const;
};

/// As recorded. O(events).
SidePeaks recorded_peaks(const Subject& subject);

/// Under a strategy. Throws UsageError where it cannot be made. One replay.
SidePeaks replayed_peaks(const Subject& subject, const StrategySpec& spec,
                         const TrialOptions& options, ReplayOptions replaying);

}  // namespace memreplay
