#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/page/column.hpp"
#include "analysis/recorded/steps.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The events in [from, to) of a trace.
struct EventWindow {
  std::uint64_t from = 0;
  std::uint64_t to = 0;

  std::uint64_t size() const { return to - from; }
};

/// At most `most` events: up to a tenth behind the first refused request of the recording, or
/// behind the requested peak, and what came before. O(events).
EventWindow window_of_interest(const Trace& trace, std::uint64_t most);

/// Requests of one class of sizes: those within [from, 2 from).
struct RequestClass {
  Bytes from = 0;
  std::uint64_t requests = 0;
  Bytes bytes = 0;
};

/// What a picture shows of a trace whatever the strategy. Blocks are numbered: first the early
/// ones, which are there before the window's first event, then one for every allocation in it.
struct TracePicture {
  std::uint64_t events = 0;  ///< of the whole trace
  EventWindow window;
  std::vector<Slot> early;  ///< slots of the early blocks, the oldest first
  std::uint64_t blocks = 0;

  // One entry for every event of the window.
  Column ops;    ///< bytes: Op
  Column times;  ///< steps, in us; empty where the recording has none
  // One for every block, by number.
  Column born;    ///< steps; of early blocks alone: event of the request + 1, 0: before the trace
  Column states;  ///< bytes; of early blocks alone: 1 where the free was requested
  Column sizes;   ///< requested
  Column lanes;   ///< into `lane_names`
  Column stacks;  ///< into `stacks_shown`
  Column tags;    ///< into `texts`
  // One for every event that frees a block: how many blocks ago it came, counted from 1. 0: a block
  // that is not known.
  Column freed;
  // One for every refused request of the recording.
  Column refused;  ///< its size

  struct LaneName {
    std::uint64_t stream = 0;  ///< the driver's handle
    std::string pool;          ///< empty: the default pool
  };
  std::vector<LaneName> lane_names;
  std::vector<std::string> texts;                        ///< tags; 0 is the empty one
  std::vector<std::string> frames;                       ///< "model.py:41 forward"
  std::vector<std::vector<std::uint32_t>> stacks_shown;  ///< of frames; 0 is the empty one
  std::vector<std::uint32_t> place_of_stack;             ///< into `places`, by stack shown
  std::vector<std::string> places;                       ///< 0: no stack was recorded
  std::vector<Phase> phases;
  std::vector<RequestClass> request_classes;  ///< of the whole trace, ascending; none empty
};

/// O(events + stacks).
TracePicture picture_of(const Subject& subject, EventWindow window);

}  // namespace memreplay
