#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A recording without the C++ frames of its stacks: one operation of Python asks for memory from
/// several places in C++.
struct PythonStacks {
  Recording recording;               ///< texts, frames and stacks alone, numbered as before
  std::vector<std::uint32_t> first;  ///< by stack: the first one that is the same now
};

/// Unset where no stack has a C++ frame. O(stacks · frames).
std::optional<PythonStacks> python_stacks(const Recording& recording);

}  // namespace memreplay
