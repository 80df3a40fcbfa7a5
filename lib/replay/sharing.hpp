#pragma once

#include <cstddef>
#include <memory>

#include "device/device_model.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The allocators of several processes on one device, each of which serves its own requests: which
/// those are shows by the stream. `recorded` is for each what its recording has. Throws UsageError
/// where one of them cannot be made, or needs a plan. `room` is what the device has for all; unset:
/// endless. `shared` and the device outlive it.
std::unique_ptr<Strategy> make_sharing(const StrategySpec& spec, const SharedDevice& shared,
                                       const StrategyContext& context, std::optional<Bytes> room);

/// The allocator of a process in what `make_sharing` has made.
Strategy& allocator_of(Strategy& sharing, std::size_t sharer);

}  // namespace memreplay
