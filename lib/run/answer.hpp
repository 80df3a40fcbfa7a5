#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/card.hpp"
#include "core/other_tenant.hpp"
#include "core/units.hpp"
#include "metrics/run_metrics.hpp"
#include "metrics/run_picture.hpp"
#include "program/trace_summary.hpp"
#include "program/verdict.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

struct Control;
class Inputs;
struct OpenDevice;
struct ReplayQuestion;
struct RunsProgress;

/// Who says how large a device is.
enum class CapacityFrom {
  nobody,            ///< a simulated one is never full, of a real one the driver says it
  option,            ///< whoever asked
  recorded_oom,      ///< a recorded failure: what was reserved then, and what was free
  recorded_retries,  ///< it was full when it was recorded: the least on which all of that happens
};

struct DeviceSummary {
  std::string text = "sim";  ///< as it was asked for: "cuda:0"
  std::string kind = "sim";
  std::optional<std::string> name;
  std::optional<Bytes> capacity;
  CapacityFrom capacity_from = CapacityFrom::nobody;
  Bytes reserve = 0;                  ///< held by others, in a simulated one's capacity
  std::optional<SetAside> set_aside;  ///< the reserve, where it is that of a known card
  std::vector<OtherTenant> tenants = {};
  Bytes granularity = 0;
  std::string address_policy;

  /// What a program may take of it; 0: there is no limit.
  Bytes usable() const {
    const Bytes whole = capacity.value_or(0);
    return whole - std::min(whole, reserve);
  }
};

/// Whether two devices gave a strategy the same bytes.
struct Agreement {
  struct Difference {
    std::uint64_t event = 0;
    Bytes allocated = 0, reserved = 0;              ///< after it, on this device
    Bytes other_allocated = 0, other_reserved = 0;  ///< on the other
  };
  std::string with;  ///< the other device, as it was asked for
  std::uint64_t events = 0;
  std::optional<Difference> first_difference;
};

/// One judged replay: what a strategy came to on a device, and how exact that is.
struct Run {
  std::string strategy;        ///< as it was given
  DeviceSummary device;        ///< on which it ran
  bool beside_others = false;  ///< the same strategy ran on another device too
  std::optional<Agreement> agreement;
  int gpu = 0;
  std::size_t place = 1;
  bool exact = true;
  std::string inexact_because;  ///< a sentence's end: "the recording starts with 12 blocks …"
  /// What came before the recording may have led to other figures than its replay gave.
  bool start_matters = false;
  /// Its device did what the recorded one did, from the first event to the last.
  bool as_recorded = false;
  /// From this event on it depends on the order in which a driver gives addresses where blocks lie.
  /// Looked for where somebody asks for the places; unset: nowhere, or not looked for.
  std::optional<std::uint64_t> places_open_from;
  bool at_least = false;        ///< its peaks are lower bounds: the recording ends early
  bool finished = true;         ///< false: interrupted, or stopped at an OOM
  bool stopped_at_oom = false;  ///< as it was asked to: its figures are those up to there
  std::optional<RunInterval> interval;
  std::uint64_t refused_before = 0;       ///< requests of the rehearsed steps before a late start
  std::optional<std::string> oom_report;  ///< empty: none; unset: not asked for
  std::optional<RunPicture> picture;      ///< unset: no plot asked for
  std::optional<JudgedRefusal> refusal;   ///< its first OOM on a simulated device, if that is known
  bool tunable = false;                   ///< `tune` has settings of its strategy to try
  std::string taken_at_once;  ///< the option of StrategyInfo::takes_at_once; empty: none
  RunMetrics metrics;

  /// Its figures are of a part of the recording that nobody chose.
  bool interrupted() const { return !finished && !stopped_at_oom; }
  /// Every request, those of a rehearsal too.
  bool serves() const { return metrics.ooms == 0 && refused_before == 0; }

  /// For people: with the device, where there are several.
  std::string name() const { return beside_others ? strategy + " on " + device.text : strategy; }
  std::uint64_t device_calls() const {
    return metrics.device_allocs + metrics.device_frees + metrics.device_maps +
           metrics.device_unmaps;
  }
};

/// What blocks come to with their future known, as far as little work shows it.
struct PlannedFloor {
  Bytes height = 0;
  Bytes lower_bound = 0;  ///< no plan is lower
  std::string found_by;   ///< "start/best", "exact", …
  std::uint64_t blocks = 0;
  std::string left_out_because;  ///< a sentence; empty: there is a plan

  bool optimal() const { return height == lower_bound; }
};

/// One trace, one device, the runs asked for.
struct TraceRuns {
  TraceSummary trace;
  DeviceSummary device;  ///< the first one
  std::vector<Run> runs;
  std::optional<VerifyRun> model_check;  ///< unset: not a recording of a modelled allocator
  std::optional<StateBeyondDevice> state_beyond;  ///< for the first device
  std::size_t asked = 0;                ///< runs; where it was interrupted `runs` may be fewer
  std::optional<PlannedFloor> planned;  ///< for ranked ones; unset: interrupted before
};

/// What strategies come to on the devices of recordings.
struct ReplayAnswer {
  std::vector<TraceRuns> traces;  ///< runs in the order asked for, their places set
  bool ranked = false;            ///< asked to be laid side by side
  bool torch_summary = false;     ///< asked for each run's memory_summary()
  bool oom_report = false;        ///< asked for what originals print at the first OOM
  bool interrupted = false;       ///< there would have been more

  /// The traces with their runs as they are to be shown: by place where they are ranked.
  std::vector<TraceRuns> shown() const;
};

/// Sets `place`: fewest OOMs, then the latest OOM that stopped a run, then no block moved out, then
/// least reserved, fewest retries, fewest device calls; the order given decides the rest. What was
/// interrupted comes last.
void set_places(std::vector<Run>& runs);

/// Puts the runs in the order of their places.
void sort_by_place(std::vector<Run>& runs);

/// The trace that fares worst: by the OOMs and the reserved peak of its first run, where that was
/// not interrupted.
std::size_t worst_of(const std::vector<TraceRuns>& traces);

/// Replays every strategy on every device of every recording. `opened` are the devices that the
/// question names, opened before anything was read; see devices_for. Throws UsageError where there
/// is nothing to replay or the question does not fit a recording.
ReplayAnswer answer(const Inputs& inputs, std::span<const OpenDevice> opened,
                    const ReplayQuestion& question, const Control& control,
                    const RunsProgress& progress);
ReplayAnswer answer(const Inputs& inputs, std::span<const OpenDevice> opened,
                    const ReplayQuestion& question, const Control& control);

}  // namespace memreplay
