#include "analysis/edit/program_course.hpp"

#include <algorithm>

namespace memreplay {

ProgramCourse::ProgramCourse(const Recording& recording, const Trace& trace)
    : recording_(recording),
      trace_(trace),
      python_(python_stacks(recording)),
      passes_(recording, trace),
      lives_(lives_of(trace)) {
  if (python_) {
    for (BlockLife& life : lives_.blocks) life.stack = python_->first[life.stack];
  }
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) allocations_.push_back(event);
    ran_out_ |= trace.ops[event] == Op::oom;
  }
  operations_ = operations_of(trace, lives_, allocations_);
}

std::size_t ProgramCourse::allocation_from(std::uint64_t event) const {
  const auto next = std::ranges::lower_bound(allocations_, event);
  return static_cast<std::size_t>(next - allocations_.begin());
}

std::uint32_t ProgramCourse::value_at(std::size_t from, std::size_t to, std::size_t at) const {
  const std::uint64_t event = event_of(at);
  std::uint32_t value = BlockLives::kNone;
  std::uint32_t operation = 0;
  for (std::size_t i = to; i-- > from;) {
    const BlockLife& candidate = life(block_of(i));
    if (!candidate.alive_at(event)) continue;
    if (value != BlockLives::kNone && operations_[i] != operation) break;
    if (value == BlockLives::kNone || candidate.size > life(value).size) value = block_of(i);
    operation = operations_[i];
  }
  return value;
}

}  // namespace memreplay
