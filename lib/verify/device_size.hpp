#pragma once

#include <cstdint>

#include "trace/trace.hpp"
#include "verify/scripted_device.hpp"
#include "verify/verdict.hpp"

namespace memreplay {

/// The most that the recorded device is known to have had room for.
Bytes most_once_held(const Trace& trace, Bytes large_segment_size);

/// A conflict with the stated size of the device, at an event. `room` is what is for the allocator.
Divergence divergence_of(const SizeConflict& conflict, Bytes room, std::uint64_t event);

}  // namespace memreplay
