#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace memreplay {

// What the backward of an operation of PyTorch needs, by the Python frames of who asked for its
// memory. False of what shows none of those that are known.

/// The shape of its input alone.
bool needs_no_input(const Recording& recording, std::uint32_t stack);

/// Not what it returned.
bool needs_no_result(const Recording& recording, std::uint32_t stack);

/// Its weights, which it saves before it asks for memory.
bool saves_weights(const Recording& recording, std::uint32_t stack);

}  // namespace memreplay
