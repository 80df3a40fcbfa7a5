#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A block of a trace, by the events of its life.
struct BlockLife {
  static constexpr std::uint64_t kBefore = UINT64_MAX;  ///< born before the first event
  static constexpr std::uint64_t kNever = UINT64_MAX;

  std::uint64_t born = kBefore;
  std::uint64_t freed = kNever;      ///< its free, or the request for it
  std::uint64_t completed = kNever;  ///< the event `freed` where both are one
  Bytes size = 0;                    ///< requested
  std::uint32_t stack = 0;           ///< the caller's; 0: none
  Slot slot = kNoSlot;

  bool existed_before() const { return born == kBefore; }
  /// Requested to be freed at this event or later.
  bool alive_at(std::uint64_t event) const { return freed >= event; }
};

/// The blocks of a trace: those from before the first event, then by birth.
struct BlockLives {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  std::vector<BlockLife> blocks;
  std::vector<std::uint32_t> block_of;  ///< by event; kNone where it concerns no block
};

/// O(events). The trace is in memory.
BlockLives lives_of(const Trace& trace);

/// The operation of each allocation, numbered upwards; `allocations` are their events. Those of one
/// operation have one stack. An expression of several operations has one stack, too: the next one
/// begins after a free, unless what is asked for then is freed at once, as workspaces are.
/// O(events).
std::vector<std::uint32_t> operations_of(const Trace& trace, const BlockLives& lives,
                                         const std::vector<std::uint64_t>& allocations);

/// The stack of an event's caller; 0 where the trace has none.
inline std::uint32_t stack_at(const Trace& trace, std::uint64_t event) {
  return trace.stacks.empty() ? 0 : trace.stacks[event];
}

}  // namespace memreplay
