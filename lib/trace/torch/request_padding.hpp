#pragma once

#include <vector>

#include "core/torch_sizes.hpp"
#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// Allocators built after PyTorch's may add bytes to every request before they round it (torch_npu
/// does). As many as the blocks of the final segments show: 0 where PyTorch's own rounding explains
/// them all, or nothing does. Where several numbers explain them, a power of two is preferred.
Bytes request_padding(const TorchSnapshot& snapshot);

/// The powers of two that explain the blocks of a final state, for a recording whose requests show
/// that there is a padding though no block does.
std::vector<Bytes> possible_paddings(const MemoryState& end, const torch::RoundupTable& roundup);

}  // namespace memreplay
