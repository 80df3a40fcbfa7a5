#pragma once

#include "trace/torch/torch_snapshot.hpp"

namespace memreplay {

/// Fills in what a snapshot without its allocator's settings shows of them all the same: padding of
/// requests, alignment of large ones, expandable segments.
void find_unstated_settings(TorchSnapshot& snapshot);

/// `large_segment_size_mb` of the configuration, which is in no field of its own, in bytes.
Bytes large_segment_size(const RecordedSettings& settings);

}  // namespace memreplay
