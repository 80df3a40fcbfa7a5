#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "metrics/metrics.hpp"
#include "metrics/run_metrics.hpp"
#include "program/facts.hpp"
#include "run/inputs.hpp"

namespace memreplay {

struct CheckQuestion;
struct Control;
class Inputs;

/// How far above its baseline a value may lie.
struct Tolerance {
  std::string text;       ///< as it was given: "2%", "64MiB", "0"
  bool relative = false;  ///< `amount` of each `per`; else `amount` more
  bool sized = false;     ///< has a unit of bytes
  std::uint64_t amount = 0;
  std::uint64_t per = 1;

  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// The tolerance of metrics that were given none.
Tolerance default_tolerance();

/// How a recording is replayed for a check.
struct CheckSetup {
  std::string strategy = "torch";  ///< as it is written
  std::string release;             ///< PyTorch's; empty: the strategy's own choice
  std::optional<Bytes> capacity;   ///< unset: no limit

  friend bool operator==(const CheckSetup&, const CheckSetup&) = default;
};

/// What a check makes of the blocks from before a recording.
enum class FromBefore {
  unsaid,    ///< by a baseline older than the choice: left out
  counted,   ///< as `replay` counts them, with its interval
  left_out,  ///< the check starts from an empty device
};

/// What replayed an entry.
struct CheckVersions {
  std::string program;  ///< memreplay's version; empty: not said
  std::string rules;    ///< PyTorch's release; empty: not said, or another allocator's

  friend bool operator==(const CheckVersions&, const CheckVersions&) = default;
};

struct BaselineMetric {
  std::uint64_t value = 0;
  Tolerance tolerance = default_tolerance();
  std::optional<std::uint64_t> budget =
      {};                    ///< a limit for one check, whatever the tolerance; not stored
  bool only_budget = false;  ///< the baseline does not have the metric

  friend bool operator==(const BaselineMetric&, const BaselineMetric&) = default;
};

/// What one device of a recording came to.
struct BaselineEntry {
  std::string trace;  ///< path from the folder of the baseline's file
  int gpu = 0;
  CheckSetup setup;
  FromBefore from_before = FromBefore::unsaid;
  bool at_least = false;                                       ///< the recording ended early
  std::map<std::string, BaselineMetric, std::less<>> metrics;  ///< by the name of a CheckedMetric
  std::optional<PlacesHeld> places;  ///< at the allocated peak, the kPlacesKept largest
  CheckVersions versions = {};

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
  std::optional<std::uint64_t> baseline;  ///< unset: only a budget asks for the metric
  Tolerance tolerance;
  std::uint64_t limit = 0;
  std::uint64_t value = 0;                ///< where it is estimated, what is likeliest
  std::optional<BytesInterval> interval;  ///< unset: not estimated
  /// The event at which it last passed the limit; unset: it is within.
  std::optional<std::uint64_t> first_event_over;
  std::optional<std::uint64_t> step;  ///< its step, 0 before the first; unset: no steps
  bool of_budget = false;             ///< the limit comes from a budget, not from the tolerance

  bool passed() const { return value <= limit; }
};

/// A recording that could not be checked.
struct NotChecked {
  std::string path;
  std::string message;  ///< "FILE:PLACE: what is wrong; what was expected"
};

/// What the program itself reserved, what was there before the recording counted in.
struct WithStart {
  Bytes peak_reserved = 0;
  Bytes end_reserved = 0;
  std::optional<RunInterval> interval;  ///< unset: the start leaves nothing open
  std::string inexact_because;          ///< empty: the recording determines them
};

/// A line of the program, as its recording names the file.
struct CodeLine {
  std::string file;
  std::uint32_t line = 0;
};

/// An entry and the replay beside it.
struct EntryCheck {
  std::string trace;  ///< path as given
  int gpu = 0;
  CheckSetup setup;
  FromBefore from_before = FromBefore::unsaid;
  /// Values over their limits first; then in the order of checked_metrics().
  std::vector<CheckedValue> values;
  PlacesHeld places;                     ///< at the allocated peak, all
  std::vector<PlaceGrowth> grown;        ///< since the baseline
  std::map<std::string, CodeLine> code;  ///< by place, for places that are a line
  std::string not_compared;  ///< why `grown` is empty whatever happened; empty: it was compared
  std::uint64_t ooms = 0;    ///< requests that were refused; less is asked of memory then
  std::uint64_t blocks_before = 0;      ///< from before the recording
  Bytes bytes_before = 0;               ///< requested bytes of them
  std::optional<WithStart> with_start;  ///< never judged; unset: not estimated
  std::string inexact_because;  ///< beside its start; empty: the recording determines the result
  bool finished = true;         ///< false: stopped, and the values mean nothing
  RecordingFacts facts;         ///< not whole: its values are lower bounds
  bool baseline_is_whole = true;
  CheckVersions versions = {};
  CheckVersions baseline_versions = {};

  bool passed() const;
  bool passes(const CheckedValue& value) const { return value.passed() && comparable(); }
  /// Lower bounds beside the values of a whole recording say nothing.
  bool comparable() const { return facts.whole() || !baseline_is_whole; }
  bool counts_before() const { return from_before == FromBefore::counted; }
};

/// Whether recordings got worse.
struct CheckAnswer {
  std::string baseline;  ///< path as given
  std::vector<EntryCheck> entries;
  std::vector<BaselineEntry> not_checked;  ///< what else the baseline has
  std::vector<NotChecked> failed;          ///< asked for, and could not be checked
  bool interrupted = false;                ///< there would have been more entries

  bool passed() const;
};

/// What an update did to one entry.
struct EntryUpdate {
  struct Change {
    const CheckedMetric* metric = nullptr;
    std::optional<std::uint64_t> before;  ///< unset: new
    std::optional<std::uint64_t> after;   ///< unset: no longer there
  };
  EntryCheck check;
  enum class Kind { fresh, changed, same };
  Kind kind = Kind::same;
  std::vector<Change> changes;  ///< values that changed
  BaselineEntry asked = {};     ///< what was replayed
};

/// What recordings come to now.
struct UpdateAnswer {
  std::string baseline;  ///< path as given
  std::vector<EntryUpdate> entries;
  Baseline renewed;          ///< what is to be kept from now on
  bool interrupted = false;  ///< there would have been more entries, and `renewed` lacks them
};

/// Lays every recording beside its entries of the baseline. One that cannot be read, or has none,
/// does not hide the others. Throws UsageError where a strategy cannot be made.
CheckAnswer answer(const Inputs& inputs, const Baseline& baseline, const CheckQuestion& question,
                   const Control& control);

/// Makes or renews the entry of every recording. Throws InputError where one cannot be checked, and
/// UsageError where a strategy cannot be made. Replays that an earlier answer from the same inputs
/// has are not repeated.
UpdateAnswer answer_update(const Inputs& inputs, Baseline baseline, const CheckQuestion& question,
                           const Control& control, const UpdateAnswer& earlier = {});

/// Did recordings get worse than their baseline says, or what is it to say of them from now on?
struct CheckQuestion {
  struct Metric {
    const CheckedMetric* metric = nullptr;
    std::optional<Tolerance> tolerance;  ///< unset: as it was; only for an update
  };
  std::string baseline;                 ///< its path: for messages, and for the answer
  std::string program;                  ///< the version of memreplay that asks
  std::vector<std::string> strategies;  ///< empty: those of the baseline
  std::optional<std::string> release;   ///< PyTorch's; only for an update; unset: as it was
  /// Only for an update; unset: as it was, and for a new entry that of a recorded failure.
  std::optional<Bytes> capacity;
  bool endless = false;                   ///< only for an update: on a device without limit
  std::optional<FromBefore> from_before;  ///< only for an update; unset: as it was, else counted
  struct Budget {
    const CheckedMetric* metric = nullptr;
    std::uint64_t most = 0;
  };
  std::vector<Budget> budgets;  ///< only for a check: limits beside the tolerances
  std::vector<Metric> metrics;  ///< what an update keeps, or tolerances that hold for this once
  std::optional<Tolerance> tolerance;  ///< for all metrics; unset: each its own
};

}  // namespace memreplay
