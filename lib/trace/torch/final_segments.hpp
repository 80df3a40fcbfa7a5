#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// The final segments of one device by ascending address, as the gate wants them (trace/gate.hpp):
/// apart from each other, each tiled by its blocks. What contradicts is left out or cut to fit, and
/// counted in `dropped` by its reason. O(n log n).
std::vector<TorchSegment> final_segments(const TorchSnapshot& snapshot, int device,
                                         std::map<std::string, std::uint64_t>& dropped);

}  // namespace memreplay
