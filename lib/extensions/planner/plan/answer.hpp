#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "extensions/planner/planner.hpp"
#include "run/answer.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"

namespace memreplay {

/// One of several memories that a plan fills in their order.
struct MemoryToFill {
  std::string name;
  Bytes capacity = 0;
};

/// How small could it be, were the future known?
struct PlanQuestion {
  PlannerOptions planner;
  std::vector<MemoryToFill> memories;  ///< empty: one, of the planner's capacity
  /// For every size and offset; unset: 512 for recordings, 1 where lifetimes are stated.
  std::optional<Bytes> alignment;
  Setup setup;                    ///< for the replay beside it
  std::string format;             ///< all recordings have it; empty: each is recognised
  std::string buffer_assignment;  ///< XLA's text beside its live ranges; empty: of the same name
  bool verify = false;  ///< the plans that the files carry are looked at, and none is made
};

struct Control;
class Inputs;
struct PlanQuestion;

/// During [from, to) only the bytes [low, high) of a buffer are in use, none where they are equal.
struct PlannedGap {
  std::int64_t from = 0;
  std::int64_t to = 0;
  Bytes low = 0;  ///< counted from its offset
  Bytes high = 0;
};

/// A block of the plan. In a recording its life is counted in events, from the one that asks for it
/// (the first is 1, before it is 0) to the one that frees it.
struct PlannedBuffer {
  std::string name;
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  Bytes size = 0;
  std::vector<PlannedGap> gaps;  ///< in which others may use its bytes
  std::size_t memory = 0;        ///< index into PlannedDevice::memories, where there are any
  Bytes offset = 0;              ///< in it, where there is a plan
};

/// One of several memories, and what the plan puts into it.
struct FilledMemory {
  std::string name;
  Bytes capacity = 0;
  Bytes height = 0;  ///< with `buffers`, where there is a plan
  std::size_t buffers = 0;
};

/// Requests that come again and again, and one plan for all of them.
struct PlannedStep {
  std::size_t requests = 0;     ///< in a step
  std::size_t steps = 0;        ///< whole ones, one after the other
  double share = 0;             ///< requests that repeat, as a share of the recording's
  Bytes lower_bound = 0;        ///< no plan of such steps is lower; where there is one
  std::optional<Bytes> height;  ///< for a plan that serves every step; unset: lifetimes differ
};

/// The plan of one device.
struct PlannedDevice {
  TraceSummary trace;
  bool nothing_requested = false;
  bool in_events = true;               ///< lives are counted in them; false: in the file's own time
  std::optional<Bytes> capacity;       ///< that was asked for
  Bytes alignment = 1;                 ///< for every size and offset
  std::vector<FilledMemory> memories;  ///< empty: one
  std::vector<PlannedBuffer> buffers;
  Bytes lower_bound = 0;        ///< no plan is lower
  std::optional<Bytes> height;  ///< the plan's, in all memories; unset: there is none
  std::string found_by;         ///< "size/best", "exact", …
  bool impossible = false;      ///< proved: nothing fits the capacity, or the given offsets
  bool verified = false;        ///< the plan is the file's own; its height is set where it is sound
  std::uint64_t nodes = 0;      ///< visited by the exact search
  double seconds = 0;
  std::uint64_t left_out = 0;       ///< requests too large for any device
  std::vector<std::size_t> cannot;  ///< buffers that do not fit together, where it is impossible
  bool each_needed = false;         ///< without any one of those the others fit
  std::string placements;           ///< the file that they are written to; empty: none
  std::optional<PlannedStep> step;  ///< set where the recording repeats itself
  std::optional<Run> run;           ///< what the recorded allocator makes of it; unset: none did

  bool optimal() const { return height == lower_bound; }
  bool fits() const { return height || nothing_requested; }
};

/// Plans with the whole future known.
struct PlanAnswer {
  std::vector<PlannedDevice> devices;
  bool interrupted = false;

  bool all_fit() const;
};

/// Plans every device of the recordings. Throws UsageError where there is no such strategy.
PlanAnswer answer(const Inputs& inputs, const PlanQuestion& question, const Control& control);

}  // namespace memreplay
