#pragma once

#include <string_view>

namespace memreplay {

/// The last number of a device's or an allocator's name, "cuda:1", "GPU_0_bfc",
/// "TPU_3(process=0,…)"; a name of a CPU is the host.
int device_named(std::string_view name);

}  // namespace memreplay
