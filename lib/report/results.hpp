#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "metrics/run_interval.hpp"
#include "metrics/run_metrics.hpp"
#include "metrics/run_picture.hpp"

namespace memreplay {

/// What a recording itself says about one device.
struct TraceSummary {
  std::string path;
  std::string format;
  std::string detail;               ///< for people
  std::optional<Bytes> file_bytes;  ///< nothing for standard input
  std::size_t devices = 1;          ///< in the file
  int gpu = 0;
  std::uint64_t events = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t streams = 0;
  std::uint64_t pools = 0;
  std::optional<std::int64_t> duration_us;

  bool starts_empty = true;
  bool complete = true;
  std::uint64_t preexisting_blocks = 0;
  Bytes preexisting_bytes = 0;
  std::map<std::string, std::uint64_t> dropped;
  std::map<std::string, std::uint64_t> synthesised;
  /// What came before, where it was looked into: "fresh", "steady", "smaller" or "larger".
  std::optional<std::string> warm_class;
  double largest_earlier_step = 0;  ///< in those of the recording; 0: none

  std::optional<std::string> settings;  ///< nothing where the recording does not state them
  std::string settings_variable;        ///< under which the recording states them
  Bytes request_padding = 0;            ///< added to each request by the recorded allocator
  Bytes peak_requested = 0;
  std::optional<Bytes> peak_reserved;
  std::optional<Bytes> end_reserved;
  std::uint64_t ooms = 0;
  std::optional<RunPicture> picture;  ///< nothing: no plot asked for
};

struct DeviceSummary {
  std::string text = "sim";  ///< as it was asked for: "cuda:0"
  std::string kind = "sim";
  std::optional<std::string> name;
  std::optional<Bytes> capacity;
  Bytes granularity = 0;
  std::string address_policy;
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

struct RunReport {
  std::string strategy;        ///< as it was given
  DeviceSummary device;        ///< on which it ran
  bool beside_others = false;  ///< the same strategy ran on another device too
  std::optional<Agreement> agreement;
  int gpu = 0;
  std::size_t place = 1;
  bool exact = true;
  std::string inexact_because;  ///< a sentence's end: "the recording starts with 12 blocks …"
  bool finished = true;         ///< false: interrupted, or stopped at an OOM
  std::optional<RunInterval> interval;
  std::uint64_t refused_before = 0;       ///< requests of the rehearsed steps before a late start
  std::optional<std::string> oom_report;  ///< empty: none; nothing: not asked for
  std::optional<RunPicture> picture;      ///< nothing: no plot asked for
  RunMetrics metrics;

  /// For people: with the device, where there are several.
  std::string name() const { return beside_others ? strategy + " on " + device.text : strategy; }
  std::uint64_t device_calls() const {
    return metrics.device_allocs + metrics.device_frees + metrics.device_maps +
           metrics.device_unmaps;
  }
};

struct VerifyRun {
  struct Divergence {
    std::uint64_t event = 0;
    std::string expected;
    std::string got;
    std::string why;
  };
  int gpu = 0;
  std::uint64_t allocs = 0;
  std::uint64_t allocs_matched = 0;
  std::uint64_t segment_events = 0;
  std::uint64_t segment_events_matched = 0;
  std::uint64_t forced = 0;  ///< requests at which the model was set to the recorded state
  std::string verdict;       ///< "exact", "diverged", "resynchronised" or "unsupported"
  std::string reason;        ///< empty: nothing to explain
  std::optional<Divergence> first_divergence;
  std::string torch_version;  ///< the rules that were used
};

/// One trace, one device, the runs asked for.
struct ReplayReport {
  TraceSummary trace;
  DeviceSummary device;  ///< the first one
  std::vector<RunReport> runs;
  std::optional<VerifyRun> model_check;  ///< nothing: not a recording of a modelled allocator
};

/// One file, a run for each device.
struct VerifyReport {
  TraceSummary trace;
  std::vector<VerifyRun> runs;
};

}  // namespace memreplay
