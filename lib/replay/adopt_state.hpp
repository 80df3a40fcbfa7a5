#pragma once

#include <span>

#include "core/memory_state.hpp"
#include "device/device_model.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// Hands an empty strategy over an empty device what was held elsewhere, and fills in, by slot,
/// where its blocks lie. False: the strategy cannot take over a state; the device then holds it.
bool adopt_state(const MemoryState& state, Strategy& strategy, DeviceModel& device,
                 std::span<Placement> by_slot);

}  // namespace memreplay
