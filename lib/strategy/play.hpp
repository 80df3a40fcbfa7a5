#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/program.hpp"
#include "device/device_model.hpp"
#include "strategy/abilities.hpp"

namespace memreplay {

/// What a replay sums up event by event.
struct Tally {
  std::uint64_t events = 0;  ///< the program's, without its driver's
  std::uint64_t requests = 0;
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes peak_requested = 0;
  Bytes peak_allocated = 0;
  Bytes requested_at_peak = 0;  ///< when the most was allocated
  Bytes peak_reserved = 0;
  Bytes highest_held = 0;      ///< by the device, also within an event
  Bytes fullest = 0;           ///< the most allocated while the most was reserved
  FreeSpace space_at_fullest;  ///< then

  void add_block(Bytes size, Bytes charged) {
    requested += size;
    allocated += charged;
  }
  void remove_block(Bytes size, Bytes charged) {
    requested -= size;
    allocated -= charged;
  }
  /// After a request that was served.
  void note_allocated() {
    note_requested();
    if (allocated <= peak_allocated) return;
    peak_allocated = allocated;
    requested_at_peak = requested;
  }
  void note_requested() { peak_requested = std::max(peak_requested, requested); }
  /// Up to so much is allocated, there is nothing to note but what is requested, as long as the
  /// device holds what it does.
  Bytes nothing_new_up_to(const DeviceUsage& device) const {
    return device.held == peak_reserved ? std::min(fullest, peak_allocated) : peak_allocated;
  }
  /// After a request: only then a strategy holds more.
  bool holds_more(const DeviceUsage& device) const {
    return device.held > peak_reserved || device.peak_held > highest_held;
  }
  /// After a request: more is in use than at the moments before that reserved as much.
  bool is_fuller(const DeviceUsage& device) const {
    return device.held == peak_reserved && allocated > fullest;
  }
  void note_fuller(const FreeSpace& space) {
    fullest = allocated;
    space_at_fullest = space;
  }

  friend bool operator==(const Tally&, const Tally&) = default;
};

/// Events of a program that a strategy may play without being watched.
struct Stretch {
  const Program& program;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::span<Placement> blocks;  ///< by slot; no handle: not placed
  Tally& tally;
  const DeviceUsage& device;
  std::uint64_t& event;  ///< kept at the one under way
};

enum class Pause : std::uint8_t {
  none,        ///< the stretch is over
  holds_more,  ///< the device holds more than ever
  refused,     ///< the last request found no room
  other,       ///< the next event is none that a strategy plays by itself
};

/// What became of a request.
enum class Service : std::uint8_t {
  refused,
  at_once,  ///< the device was not asked
  served,
};

/// How far a stretch was played, and why no further.
struct StopPoint {
  std::uint64_t next = 0;  ///< event
  Pause why = Pause::none;
};

/// Plays a stretch by direct calls. `Player` has the calls of a strategy for events that are
/// requests and frees, `free_space`, and `prefetch(program, event, blocks)`. It looks ahead for
/// hints alone.
template <class Player>
StopPoint play_directly(Player&& player, const Stretch& stretch) {
  const Program& program = stretch.program;
  Placement* const blocks = stretch.blocks.data();
  const DeviceUsage& device = stretch.device;
  Tally tally = stretch.tally;
  // One comparison tells that there is nothing to note.
  Bytes held = device.held;
  Bytes most_held = device.peak_held;
  Bytes nothing_new = tally.nothing_new_up_to(device);
  std::uint64_t of_driver = 0;
  std::uint64_t event = stretch.from;
  const auto stop = [&](Pause why) {
    tally.events += event - stretch.from - of_driver;
    stretch.tally = tally;
    return StopPoint{event, why};
  };
  for (; event < stretch.to; ++event) {
    stretch.event = event;
    player.prefetch(program, event, blocks);
    const Op op = program.ops[event];
    if (op == Op::allocate) {
      ++tally.requests;
      const Bytes size = program.sizes[event];
      if (size == 0) [[unlikely]]
        continue;
      Placement& placed = blocks[program.slots[event]];
      const Service service = player.allocate(program, event, placed);
      if (service == Service::refused) [[unlikely]] {
        ++event;
        return stop(Pause::refused);
      }
      tally.add_block(size, placed.size);
      tally.note_requested();
      const bool same_device =
          service == Service::at_once || (device.held == held && device.peak_held == most_held);
      if (same_device && tally.allocated <= nothing_new) [[likely]]
        continue;
      tally.note_allocated();
      if (tally.holds_more(device)) {
        ++event;
        return stop(Pause::holds_more);
      }
      if (tally.is_fuller(device)) tally.note_fuller(player.free_space());
      held = device.held;
      most_held = device.peak_held;
      nothing_new = tally.nothing_new_up_to(device);
      continue;
    }
    if (op > Op::free_completed) [[unlikely]] {
      if (!is_driver_event(op)) return stop(Pause::other);
      ++of_driver;
      continue;
    }
    Placement& block = blocks[program.slots[event]];
    const Handle handle = block.handle;
    if (handle == kNoHandle) continue;
    if (op == Op::free) [[likely]] {
      tally.remove_block(program.sizes[event], block.size);
      block.handle = kNoHandle;
      player.free(program, event, handle);
    } else if (op == Op::free_requested) {
      tally.remove_block(program.sizes[event], block.size);
      player.request_free(handle);
    } else {
      block.handle = kNoHandle;
      player.complete_free(handle);
    }
  }
  return stop(Pause::none);
}

/// A handle or slot, 0 in place of none. Not by a branch, which could not be foreseen.
inline std::uint32_t or_first(std::uint32_t number) {
  static_assert(kNoHandle == UINT32_MAX && kNoSlot == UINT32_MAX);
  return number & -std::uint32_t{number != UINT32_MAX};
}

/// Hints for frees to come, for a strategy of many blocks whose `records` are numbered by handle:
/// they wait for memory longer than for all else. First comes the entry of the slot, then its
/// record, then those of the two that `neighbours(record)` names; without a branch, for events that
/// are no frees too.
template <class Record, class Neighbours>
[[gnu::always_inline]] inline void hint_at_frees(const Program& program, std::uint64_t event,
                                                 const Placement* blocks, const Record* records,
                                                 const Neighbours& neighbours) {
  constexpr std::uint64_t kAhead = 24;
  if (event + kAhead >= program.size()) return;
  const auto entry_of = [&](std::uint64_t at) { return blocks + or_first(program.slots[at]); };
  const auto record_of = [&](std::uint64_t at) { return records + or_first(entry_of(at)->handle); };
  const Placement* const entry = entry_of(event + kAhead);
  __builtin_prefetch(&entry->address);
  __builtin_prefetch(&entry->handle);  // may lie in the next line
  __builtin_prefetch(record_of(event + kAhead * 2 / 3));
  const auto [one, other] = neighbours(*record_of(event + kAhead / 3));
  __builtin_prefetch(records + one);
  __builtin_prefetch(records + other);
}

/// Hints for frees to come, for any strategy; `hints` may be null. Which memory they touch is in
/// the trace; to wait for it costs more than all else.
[[gnu::always_inline]] inline void hint_at_next_free(const Program& program, std::uint64_t event,
                                                     const Placement* blocks,
                                                     const Prefetch* hints) {
  constexpr std::uint64_t kFar = 12;
  constexpr std::uint64_t kNear = 5;
  if (event + kFar >= program.size()) return;
  const Slot far = program.slots[event + kFar];
  if (far != kNoSlot) __builtin_prefetch(&blocks[far]);
  if (hints == nullptr) return;
  const Slot near = program.slots[event + kNear];
  if (program.ops[event + kNear] == Op::allocate || near == kNoSlot) return;
  if (blocks[near].handle != kNoHandle) hints->prefetch(blocks[near].handle);
}

/// Up to so many records all lie in the processor's nearest memory: hints cost more than they save.
inline constexpr std::size_t kFewRecords = 4096;

/// The calls of a strategy whose type is known.
template <class Own>
struct DirectCalls {
  Own& own;
  const Prefetch* hints;  ///< null: it has none to give

  /// `placed` as it was where there is no room.
  Service allocate(const Program& program, std::uint64_t event, Placement& placed) {
    const auto placement = own.allocate(program.request(event));
    if (!placement) return Service::refused;
    placed = *placement;
    return Service::served;
  }
  void free(const Program& program, std::uint64_t event, Handle block) {
    own.free(block, program.giver(event));
  }
  void request_free(Handle block) { own.request_free(block); }
  void complete_free(Handle block) { own.complete_free(block); }
  FreeSpace free_space() const { return own.free_space(); }
  [[gnu::always_inline]] void prefetch(const Program& program, std::uint64_t event,
                                       const Placement* blocks) const {
    hint_at_next_free(program, event, blocks, hints);
  }
};

}  // namespace memreplay
