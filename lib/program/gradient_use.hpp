#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/lives.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The last event up to which the gradients of a backward pass were used: one of them was freed
/// after other requests, or most of what the pass left was freed before the next one, as
/// zero_grad() does. 0: none were. `requests`: events; `is_backward`: by stack.
/// O((requests + blocks) log requests).
std::uint64_t gradients_used(const Trace& trace, const BlockLives& lives,
                             std::span<const std::uint64_t> requests,
                             const std::vector<bool>& is_backward);

}  // namespace memreplay
