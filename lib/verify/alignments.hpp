#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// To which multiples large requests may have been moved, likeliest first: what torch_npu's
/// base_addr_aligned_kb can be. 0: to none. `padding` is what was added to each request.
std::vector<Bytes> possible_alignments(const RecordedSettings& settings, const Trace& trace,
                                       Bytes padding);

}  // namespace memreplay
