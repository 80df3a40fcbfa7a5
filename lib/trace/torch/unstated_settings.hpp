#pragma once

#include <vector>

#include "core/torch_sizes.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

/// Fills in what a snapshot without its allocator's settings shows of them all the same: padding of
/// requests, alignment of large ones, expandable segments.
void find_unstated_settings(TorchSnapshot& snapshot);

/// `large_segment_size_mb` of the configuration, which is in no field of its own, in bytes.
Bytes large_segment_size(const RecordedSettings& settings);

/// Allocators built after PyTorch's may add bytes to every request before they round it (torch_npu
/// does, 32). Enters as many as the blocks of the final segments show, and the least and the most
/// that explain them as well: none where PyTorch's own rounding explains them all, or nothing does.
/// Where several numbers do, 32 is preferred, then a power of two.
void find_request_padding(TorchSnapshot& snapshot);

/// The powers of two, 32 in front, that explain the blocks of a final state, for a recording whose
/// requests show that there is a padding though no block does.
std::vector<Bytes> possible_paddings(const MemoryState& end, const torch::RoundupTable& roundup);

}  // namespace memreplay
