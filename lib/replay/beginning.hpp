#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/memory_state.hpp"
#include "core/program.hpp"
#include "device/device_model.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

class Caller;
struct PlayOptions;

/// How a strategy came to the first event of a program.
struct Begun {
  bool exact = true;                 ///< nothing was there, or it was taken over as recorded
  std::uint64_t refused_before = 0;  ///< requests on another way to the first event
  std::vector<Request> unserved;     ///< requests of blocks that should be there and found no room
};

/// Brings a strategy that was never asked before to the first event, in one of three ways: that of
/// `options.begin_with`, by taking over what was recorded, or by allocating its blocks anew.
Begun begin(const Program& program, Strategy& strategy, DeviceModel& device, Caller& caller,
            const PlayOptions& options);

/// Hands an empty strategy over an empty device what was held elsewhere, and fills in, by slot,
/// where its blocks lie. False: the strategy cannot take over a state; the device then holds it.
bool take_over(const MemoryState& state, Strategy& strategy, DeviceModel& device,
               std::span<Placement> by_slot);

}  // namespace memreplay
