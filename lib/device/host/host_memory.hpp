#pragma once

#include <memory>

#include "device/real/real_memory.hpp"

namespace memreplay {

/// The memory of this machine: mapped regions, and a file without a name for virtual memory. Its
/// execution works at once, in the calling thread.
std::unique_ptr<RealMemory> open_host_memory();

}  // namespace memreplay
