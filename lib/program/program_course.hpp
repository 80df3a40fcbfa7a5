#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "program/lives.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The backward passes of a program that trains, told by the stacks of its allocations: autograd
/// runs them on threads of its own, without the program's frames. A recording without stacks shows
/// none.
class Passes {
 public:
  /// Without a recording.
  Passes() = default;
  Passes(const Recording& recording, const Trace& trace);

  /// Asked for by a backward pass: without Python frames, or from torch.autograd.backward.
  bool is_backward(std::uint32_t stack) const { return backward_[stack]; }
  bool are_known() const { return known_; }
  /// Allocations of backward passes, and of all others, before this event.
  std::uint32_t backward_before(std::uint64_t event) const { return backward_before_[event]; }
  std::uint32_t others_before(std::uint64_t event) const { return others_before_[event]; }

  /// Whether the last request before this event is a backward pass's.
  bool is_in_backward(std::uint64_t event) const { return in_backward_[event]; }
  /// Asked for before a backward pass, freed in or after it.
  bool outlives_forward(const BlockLife& life) const;
  /// Asked for before a backward pass, freed in it: by then nothing but the graph held it.
  bool is_saved(const BlockLife& life) const;

 private:
  std::vector<bool> backward_;  ///< by stack
  bool known_ = false;
  std::vector<std::uint32_t> backward_before_;  ///< by event, and after the last
  std::vector<std::uint32_t> others_before_;
  std::vector<bool> in_backward_;  ///< likewise
};

/// A recording without the C++ frames of its stacks: one operation of Python asks for memory from
/// several places in C++.
struct PythonStacks {
  Recording recording;               ///< texts, frames and stacks alone, numbered as before
  std::vector<std::uint32_t> first;  ///< by stack: the first one that is the same now
};

/// Unset where no stack has a C++ frame. O(stacks · frames).
std::optional<PythonStacks> python_stacks(const Recording& recording);

/// A recorded program as the allocations that it made, one after the other.
class ProgramCourse {
 public:
  /// Both outlive this. O(events + stacks · frames).
  ProgramCourse(const Recording& recording, const Trace& trace);

  /// Its stacks hold Python frames alone, and those with equal frames have one number in `lives`.
  const Recording& recording() const { return python_ ? python_->recording : recording_; }
  const Trace& trace() const { return trace_; }
  const Passes& passes() const { return passes_; }
  const BlockLives& lives() const { return lives_; }
  const BlockLife& life(std::uint32_t block) const { return lives_.blocks[block]; }

  /// Their events. All below counts allocations by their places here.
  const std::vector<std::uint64_t>& allocations() const { return allocations_; }
  /// See operations_of.
  std::uint32_t operation(std::size_t allocation) const { return operations_[allocation]; }
  std::span<const std::uint32_t> operations(std::size_t from, std::size_t to) const {
    return std::span(operations_).subspan(from, to - from);
  }
  /// The event of an allocation; after the last one, the end of the trace.
  std::uint64_t event_of(std::size_t allocation) const {
    return allocation < allocations_.size() ? allocations_[allocation] : trace_.size();
  }
  std::uint32_t block_of(std::size_t allocation) const {
    return lives_.block_of[allocations_[allocation]];
  }
  /// The block whose free is requested at an event; BlockLives::kNone: none.
  std::uint32_t freed_at(std::uint64_t event) const {
    const std::uint32_t block = lives_.block_of[event];
    return block != BlockLives::kNone && life(block).freed == event ? block : BlockLives::kNone;
  }
  bool is_backward(std::size_t allocation) const {
    return passes_.is_backward(stack_at(trace_, allocations_[allocation]));
  }
  /// The first allocation at an event or after it.
  std::size_t allocation_from(std::uint64_t event) const;
  /// The event of the first allocation after an event.
  std::uint64_t request_behind(std::uint64_t event) const {
    return event_of(allocation_from(event + 1));
  }

  /// What the last operation of [from, to) returned: the largest of its blocks that are alive at
  /// the allocation `at`, the latest among equals; or what that was added to, where it is gone.
  /// BlockLives::kNone where none is.
  std::uint32_t value_at(std::size_t from, std::size_t to, std::size_t at) const;
  /// Some request failed.
  bool ran_out() const { return ran_out_; }

 private:
  /// A larger result of an operation of which `value` is left may have been added in place to an
  /// earlier one: a residual block whose shortcut ends in a norm leaves that norm's statistics. The
  /// sum has the size of what is gone, and the backward pass frees it first.
  std::uint32_t added_to(std::size_t from, std::size_t to, std::uint64_t event, std::uint32_t value,
                         std::uint32_t operation) const;

  const Recording& recording_;
  const Trace& trace_;
  std::optional<PythonStacks> python_;  ///< unset: the recording's are so already
  Passes passes_;
  BlockLives lives_;
  std::vector<std::uint64_t> allocations_;
  std::vector<std::uint32_t> operations_;
  bool ran_out_ = false;
};

}  // namespace memreplay
