#pragma once

#include <memory>

#include "strategy/registry.hpp"

namespace memreplay {

/// Whether the device has an allocator of that kind for this strategy: there is one of it, which
/// does not share the device with a strategy that wraps another.
bool driver_has(const StrategyContext& context, DriverAllocatorOptions::Kind kind);

/// A strategy that places nothing itself: each request is a block of the driver's own allocator,
/// which the device must have and which is opened here. It cannot be copied.
std::unique_ptr<Strategy> make_driver_blocks(DeviceModel& device,
                                             const DriverAllocatorOptions& options);

}  // namespace memreplay
