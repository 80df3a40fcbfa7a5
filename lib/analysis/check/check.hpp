#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/check/run_watch.hpp"
#include "analysis/check/tolerance.hpp"
#include "analysis/recorded/growth.hpp"
#include "metrics/run_interval.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

/// Did it get worse? A recording is replayed on an empty device, so that nothing of its past leaks
/// in, and laid beside what the same replay gave before.
namespace memreplay {

class LateStart;

inline constexpr std::size_t kPlacesKept = 20;

/// How a recording is replayed for a check.
struct CheckSetup {
  std::string strategy = "torch";  ///< as it is written
  std::string torch_version;       ///< empty: the strategy's own choice
  std::optional<Bytes> capacity;   ///< nothing: endless

  friend bool operator==(const CheckSetup&, const CheckSetup&) = default;
};

struct BaselineMetric {
  std::uint64_t value = 0;
  Tolerance tolerance = default_tolerance();

  friend bool operator==(const BaselineMetric&, const BaselineMetric&) = default;
};

/// What one device of a recording came to.
struct BaselineEntry {
  std::string trace;  ///< path as given
  int gpu = 0;
  CheckSetup setup;
  std::map<std::string, BaselineMetric, std::less<>> metrics;  ///< by the name of a CheckedMetric
  std::optional<PlacesHeld> places;  ///< at the allocated peak, the kPlacesKept largest

  friend bool operator==(const BaselineEntry&, const BaselineEntry&) = default;
};

/// Sorted by trace, gpu, strategy; each of them once.
struct Baseline {
  std::vector<BaselineEntry> entries;

  /// Null where there is none.
  BaselineEntry* find(const std::string& trace, int gpu, const std::string& strategy);
  /// In its place among the others. Throws UsageError where it is there already.
  BaselineEntry& add(BaselineEntry entry);
};

struct CheckedValue {
  const CheckedMetric* metric = nullptr;
  std::uint64_t baseline = 0;
  Tolerance tolerance;
  std::uint64_t limit = 0;
  std::uint64_t value = 0;
  std::optional<std::uint64_t> first_event_over;  ///< see RunWatch::over_since
  std::optional<std::uint64_t> step;  ///< of that event, 0 before the first; nothing: no steps

  bool passed() const { return value <= limit; }
};

/// What the program itself reserved, what was there before the recording counted in.
struct WithStart {
  Bytes peak_reserved = 0;
  Bytes end_reserved = 0;
  std::optional<RunInterval> interval;  ///< nothing: its start leaves nothing open
  std::string inexact_because;          ///< empty: the recording determines them
};

/// An entry and the replay beside it.
struct EntryCheck {
  std::string trace;
  int gpu = 0;
  CheckSetup setup;
  std::vector<CheckedValue>
      values;         ///< those over the limit first; then as checked_metrics() has them
  PlacesHeld places;  ///< at the allocated peak, all
  std::vector<PlaceGrowth> grown;  ///< since the baseline
  std::string not_compared;  ///< why `grown` is empty whatever happened; empty: it was compared
  std::uint64_t ooms = 0;    ///< requests that were refused; less is asked of memory then
  std::uint64_t left_out_blocks = 0;    ///< from before the recording
  Bytes left_out = 0;                   ///< requested bytes of them
  std::optional<WithStart> with_start;  ///< never judged; nothing: not looked into, or see there
  std::string inexact_because;  ///< beside its start; empty: the recording determines the result
  bool finished = true;         ///< false: cancelled, and the values mean nothing

  bool passed() const;
};

/// Throws UsageError where the strategy cannot be made. One replay; O(metrics) more per event.
EntryCheck check_entry(const Subject& subject, const BaselineEntry& entry,
                       const std::atomic<bool>* cancelled = nullptr);

/// The same with what was there before the recording. Nothing where it started empty, where that is
/// not recorded or cannot be estimated, or where `cancelled`. One replay, and an estimate.
std::optional<WithStart> with_start(const Subject& subject, const LateStart& late,
                                    const BaselineEntry& entry,
                                    const std::atomic<bool>* cancelled = nullptr);

/// The entry with the values and places that the check found; tolerances stay.
BaselineEntry updated(const BaselineEntry& entry, const EntryCheck& check);

}  // namespace memreplay
