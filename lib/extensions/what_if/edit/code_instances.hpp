#pragma once

#include <cstdint>
#include <vector>

#include "extensions/what_if/edit/selector.hpp"
#include "program/program_course.hpp"

namespace memreplay {

/// One run of a layer's code: its allocations, as positions in the list of all allocations.
struct CodeInstance {
  std::uint32_t first = 0;
  std::uint32_t last = 0;   ///< one past its last allocation
  std::uint32_t run = 0;    ///< instances of one run follow each other without a request between
  std::uint32_t step = 0;   ///< a backward pass lies between two steps
  std::uint32_t place = 0;  ///< its number in its step; `place_in_run`: in its run
  std::uint32_t place_in_run = 0;
};

/// Where the code that a selector names ran, told by the stacks of its allocations. One that asks
/// for no memory is not seen. `allocations` are the events of all, in their order.
/// O(allocations + stacks · frames).
std::vector<CodeInstance> instances_of(const Recording& recording, const Trace& trace,
                                       const std::vector<std::uint64_t>& allocations,
                                       const Passes& passes, const Selector& code);

}  // namespace memreplay
