#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "extensions/page/packed_column.hpp"
#include "extensions/ranks/answer.hpp"
#include "program/facts.hpp"
#include "questions/explain/answer.hpp"
#include "run/answer.hpp"
#include "run/question.hpp"

namespace memreplay {

/// Pictures of what happens, and why.
struct PageQuestion {
  ReplayQuestion replay;              ///< its setup's points of curves count, too
  ExplainQuestion explain;            ///< how long settings that help are searched for
  std::optional<std::uint64_t> from;  ///< events [from, to) are shown in full; unset: as many as
  std::optional<std::uint64_t> to;    ///< a page takes
};

struct PageQuestion;

/// The events in [from, to) of a trace.
struct EventWindow {
  std::uint64_t from = 0;
  std::uint64_t to = 0;

  std::uint64_t size() const { return to - from; }
};

/// Requests of one class of sizes: those within [from, 2 from).
struct RequestClass {
  Bytes from = 0;
  std::uint64_t requests = 0;
  Bytes bytes = 0;
};

/// What a picture shows of a trace whatever the strategy. Blocks are numbered: first the early
/// ones, which are there before the window's first event, then one for every allocation in it.
struct TracePicture {
  std::uint64_t events = 0;  ///< in the whole trace
  EventWindow window;
  std::vector<Slot> early;  ///< slots of the early blocks, the oldest first
  std::uint64_t blocks = 0;

  // One entry for every event of the window.
  PackedColumn ops;    ///< bytes: Op
  PackedColumn times;  ///< steps, in us; empty where the recording has none
  // One for every block, by number.
  PackedColumn born;    ///< steps; early blocks only: event of the request + 1, 0: before the trace
  PackedColumn states;  ///< bytes; early blocks only: 1 where the free was requested
  PackedColumn sizes;   ///< requested
  PackedColumn lanes;   ///< into `lane_names`
  PackedColumn stacks;  ///< into `stacks_shown`
  PackedColumn tags;    ///< into `texts`
  PackedColumn addresses;  ///< steps, as recorded; empty where the recording has none
  // One for every event that frees a block: how many blocks ago it came, counted from 1. 0: a block
  // that is not known.
  PackedColumn freed;
  // One for every event of the window that concerns no block: refused requests, what the recorded
  // allocator asked of the driver, marks of the program.
  PackedColumn other_sizes;
  PackedColumn other_addresses;  ///< steps; at an OOM the free bytes of the device
  PackedColumn other_lanes;      ///< into `lane_names`
  PackedColumn other_stacks;     ///< into `stacks_shown`
  PackedColumn other_tags;       ///< into `texts`

  struct LaneName {
    std::uint64_t stream = 0;  ///< the driver's handle
    std::string pool;          ///< empty: the default pool
  };
  std::vector<StreamPool> known_lanes;
  std::vector<LaneName> lane_names;                      ///< names of `known_lanes`
  std::vector<std::string> texts;                        ///< tags; 0 is the empty one
  std::vector<std::string> frames;                       ///< "model.py:41 forward"
  std::vector<bool> noise;                               ///< by frame: serves any program
  std::vector<std::vector<std::uint32_t>> stacks_shown;  ///< into `frames`; 0 is the empty one
  std::vector<std::uint32_t> place_of_stack;             ///< into `places`, by stack shown
  std::vector<std::string> places;                       ///< 0: no stack was recorded
  std::vector<Phase> phases;
  std::vector<RequestClass> request_classes;  ///< for the whole trace, ascending; none empty
};

/// Where a strategy placed every block of a TracePicture, and what it held of the device.
struct PlacedBlocks {
  bool keeps_places = true;  ///< false: blocks are moved about, and nothing follows
  Address base = 0;          ///< addresses count from here …
  Bytes unit = 1;            ///< … in these
  // One entry for every block, by number.
  PackedColumn places;   ///< address + 1; 0: it has none
  PackedColumn charges;  ///< signed; where a block has a place: charged - requested bytes
  std::uint64_t early_regions = 0;  ///< from before the trace
  // Regions from before the trace, then what was asked of the device up to the window's end.
  PackedColumn region_events;  ///< steps
  PackedColumn region_ops;     ///< bytes: Op of a driver event
  PackedColumn region_addresses;
  PackedColumn region_bytes;
  PackedColumn region_lanes;  ///< for which it was obtained: into `known_lanes`, + 1; 0: not known
  // Where the bytes held became others, up to the window's end. The first: before the trace.
  PackedColumn reserved_events;  ///< steps
  PackedColumn reserved_bytes;   ///< steps
  // Where more than before and after was held during an event, and it was a new peak.
  PackedColumn within_events;  ///< steps
  PackedColumn within_bytes;   ///< steps
  // Completions of frees that came later than the trace has them.
  PackedColumn late_events;  ///< steps
  PackedColumn late_blocks;  ///< numbers
};

/// One device of a recording; every run has its picture.
struct PageDevice {
  TraceRuns report;
  TracePicture trace;
  std::vector<PlacedBlocks> placed;  ///< by run
  ExplainedDevice explained;
  std::vector<std::string> settings;  ///< sentences
};

/// Pictures of recordings and of what strategies make of them.
struct PageAnswer {
  std::vector<PageDevice> devices;
  std::size_t worst = 0;             ///< the device at which the page opens
  std::optional<RanksAnswer> ranks;  ///< set by who asks for it: what a page of several begins with
  Bytes most_bytes = 14 * 1000 * 1000;  ///< where a page grows beyond, places are left out
  bool interrupted = false;             ///< there would have been more
};

/// Replays and explains every device of every recording. `devices` are those that the question's
/// setup names. `before_all` gets the first of what is pictured before it is replayed. Throws
/// UsageError where the question does not fit a recording.
PageAnswer answer(const Inputs& inputs, std::span<const OpenDevice> devices,
                  const PageQuestion& question, const Control& control,
                  const std::function<void(const Subject&)>& before_all = {});

}  // namespace memreplay
