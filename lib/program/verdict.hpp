#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/units.hpp"

/// Why memory ran out: one rule for every command.
namespace memreplay {

/// Why a request was not served.
enum class Cause {
  none,           ///< every request was
  shortage,       ///< what is live and the request together are more than there is
  fragmentation,  ///< they fit, and no hole takes the request
  limit,          ///< they fit the device, but not what a limit or an arena leaves the allocator
  outside,        ///< they would fit, did others not hold memory
  address_space,  ///< memory was free for it, but no addresses for one more expandable segment
  unknown,        ///< the recording cannot tell whether one was refused
};

std::string_view name_of(Cause cause);

/// A request beside what is live.
struct RequestInRoom {
  std::uint64_t event = 0;
  Bytes live = 0;       ///< requested
  Bytes requested = 0;  ///< by that event
  Bytes room = 0;       ///< what the allocator may have of the device

  bool fits() const { return live + requested <= room; }
};

/// What was there before a recording's first event, where that alone is more than the device has.
struct StateBeyondDevice {
  Bytes needed = 0;  ///< requested
  Bytes room = 0;    ///< what the allocator may have of the device
  std::uint64_t blocks = 0;
};

/// A request that was not served.
struct Refusal {
  std::optional<std::uint64_t> event;  ///< unset: not all from before the recording found room
  Bytes live = 0;                      ///< requested
  Bytes allocated = 0;                 ///< the same as the allocator rounds it; 0: unknown
  Bytes requested = 0;                 ///< as rounded; 0 without an event
  Bytes device_free = 0;
  Bytes room = 0;              ///< what the allocator can have: reserved and free on the device
  Bytes allowance = 0;         ///< what it may have: `room`, or less by a limit of its own
  std::optional<Bytes> total;  ///< the whole device, where it is known
  Cause cause = Cause::none;   ///< without a look at what follows

  /// By the sizes alone: shortage, outside, limit or fragmentation.
  Cause cause_by_sizes() const;
};

/// Why a request was refused, with what follows it in view.
struct OomVerdict {
  Cause cause = Cause::none;
  bool in_effect = false;  ///< a shortage, although the refused request would fit by its sizes

  friend bool operator==(const OomVerdict&, const OomVerdict&) = default;
};

/// A request that a run was refused, and the verdict on it.
struct JudgedRefusal {
  Refusal refusal;
  OomVerdict verdict;
  std::optional<RequestInRoom> too_much;  ///< the later request of a shortage in effect
};

/// The verdict on a refused request: a shortage in effect where it fits and a later one is too much
/// for the device. Whether a setting helps is no part of it.
OomVerdict verdict_on(Cause by_sizes, bool later_too_much);

}  // namespace memreplay
