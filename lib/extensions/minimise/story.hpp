#pragma once

#include <cstdint>
#include <vector>

#include "core/program.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A trace taken apart into blocks and marks that can be left out, joined or moved. What each does
/// has a place of its own; the order of the places is that of the events.
struct EditableTrace {
  using Place = std::uint32_t;
  static constexpr Place kNever = UINT32_MAX;
  static constexpr std::uint32_t kNoEvent = UINT32_MAX;

  struct Block {
    Bytes size = 0;
    Place born = 0;
    Place freed = kNever;      ///< its free, or the request for it
    Place completed = kNever;  ///< the place `freed` where both are one
    std::uint16_t lane = 0;
    std::uint16_t free_lane = 0;
    std::uint8_t align_log2 = 0;
    std::uint32_t event = kNoEvent;       ///< in the origin; none: from before it
    std::uint32_t free_event = kNoEvent;  ///< likewise

    bool is_freed() const { return freed != kNever; }
    bool waits() const { return is_freed() && completed != freed; }
  };
  /// An event that concerns no block.
  struct Mark {
    Op op = Op::marker;
    Place place = 0;
    Bytes size = 0;
    std::uint16_t lane = 0;
    std::uint32_t event = kNoEvent;
  };

  std::vector<StreamPool> lanes;
  std::vector<Block> blocks;           ///< by birth
  std::vector<Mark> marks;             ///< by place
  Place places = 0;                    ///< all are below
  std::uint64_t pool_ends = 0;         ///< ends of private pools, left out
  std::uint64_t unfinished_frees = 0;  ///< never completed: their blocks stay in use

  /// The number of events in the trace that it makes.
  std::uint64_t events() const;
};

/// What a program asks, as allocations and frees: blocks from before the recording become
/// allocations at its beginning, what the program is known to have called becomes events, refused
/// requests are served and freed at once. Driver events are left out, and what no event can say
/// (ends of private pools, frees that never complete). O(events).
EditableTrace story_of(const Program& program);

/// The story as a trace with the threads, tags and bounds of its origin, without times, stacks and
/// addresses. Slots are the numbers of the blocks. O(places).
Trace trace_of(const EditableTrace& story, const Trace& origin);

/// Without gaps between places, blocks and marks in order. O(n log n).
void compact(EditableTrace& story);

/// Two blocks made one: where it begins and where it ends.
struct Joint {
  bool born_first = true;  ///< with the earlier of the two, else with the later
  bool freed_last = true;
};
inline constexpr Joint kJoints[] = {{true, true}, {false, true}, {true, false}, {false, false}};

/// `into` is born before `other`; both are freed or neither. False, and nothing done, where the one
/// block would end before it begins.
bool join(EditableTrace::Block& into, const EditableTrace::Block& other, Joint joint);

/// What takes the room of blocks that were left out.
struct Filler {
  Bytes growth = 0;           ///< added to the first block
  std::vector<Bytes> blocks;  ///< before it
  std::vector<Bytes> late;    ///< right before the last block
};

/// With the blocks of `filler` before all others and before the last one, and the first one larger
/// by its growth: that is a block of its own where the first one is freed, or the last of the
/// story. O(blocks).
EditableTrace filled(EditableTrace story, const Filler& filler);

}  // namespace memreplay
