#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/program.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Before event `at` of a step that has `of`; in another step at the same share of its events.
struct PlaceInStep {
  std::uint32_t at = 0;
  std::uint32_t of = 0;

  std::uint32_t in(std::size_t events) const {
    return of == 0 ? 0 : static_cast<std::uint32_t>(std::uint64_t{at} * events / of);
  }
};

/// One part of a recording that other orders play elsewhere: its events are those of blocks that
/// live within it, the births of blocks that outlive it, and what concerns no block.
struct WorkStep {
  /// A free, or part of one, of a block that outlives its step: so many steps later.
  struct Parting {
    std::uint32_t later = 0;
    PlaceInStep place;
    std::uint32_t row = 0;  ///< in Work::rows
    bool last = false;      ///< the block is gone then
  };
  /// The birth of a block that outlives the step; its event has no slot.
  struct Birth {
    std::uint32_t at = 0;           ///< event of the step
    std::vector<Parting> partings;  ///< in the recorded order
  };

  EventColumns events;        ///< slots: numbers of own blocks, used again, from 0 on
  Slot own_slots = 0;         ///< all are below
  std::vector<Birth> births;  ///< ascending

  std::size_t size() const { return events.ops.size(); }
};

/// What stays at its place in the order, whichever step is there: the birth of a block that is
/// never freed, the free of one from before the first step.
struct BoundEvent {
  PlaceInStep place;
  std::uint32_t row = 0;  ///< in Work::rows
  Slot slot = kNoSlot;    ///< its own
};

/// What a recording asks, taken apart so that its steps can come in other orders. What is before
/// the first step comes first in every order, what is after the last one at the end.
struct Work {
  EventColumns rows;  ///< all events; slots are numbers of blocks
  int gpu = 0;
  std::vector<StreamPool> lanes;
  std::vector<std::uint64_t> streams;
  std::vector<PoolId> pools;
  MemoryState start;  ///< its blocks have the first slots
  bool starts_empty = true;
  Slot bound_slots = 0;  ///< slots of blocks that belong to no step; those of steps follow
  WorkStep beginning;    ///< slots: only blocks that belong to no step
  std::vector<WorkStep> steps;
  std::size_t places = 0;  ///< as many steps as were recorded come in an order
  WorkStep end;            ///< likewise
  /// By place in the order: 0 is the beginning, then the steps, then the end.
  std::vector<std::vector<BoundEvent>> bound;
  bool last_step_stays = false;  ///< a block of it is never freed: it is (in) the end

  std::uint64_t crossing_blocks = 0;  ///< outlive the step in which they are born, and are freed
  Bytes crossing_bytes = 0;
  std::uint64_t lasting_blocks = 0;  ///< born in a step, never freed: they keep their place
  Bytes lasting_bytes = 0;
  std::uint64_t frontiers = 0;         ///< counts of frees (BFC), left out: they are of one order
  std::uint64_t pool_ends = 0;         ///< ends of private pools, left out
  std::uint64_t unfinished_frees = 0;  ///< never completed: their blocks stay in use
};

/// `begins` are the first events of the steps, ascending, of the program, which is that of `trace`.
/// Where a block of the last step is never freed, the recording does not show how it ends: that
/// step stays last. O(events).
Work work_of(const Program& program, const Trace& trace, std::span<const std::uint64_t> begins);

/// Adds the steps of another recording's work after those there are. What that one holds in more
/// than its steps is left out, and the texts of its tags; its streams and pools are those of the
/// same number or name. Returns how many steps there were to add.
std::size_t add_steps(const Work& other, Work& work);

/// The first events of parts that begin where little is live: at the lowest point between two
/// stretches in which the blocks that are freed at all hold more than a sixteenth of their most.
std::vector<std::uint64_t> begins_where_little_lives(const Program& program);

}  // namespace memreplay
