#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A frame that serves any program, folded where a stack is shown: one of C++, of an installed
/// package, of the interpreter or of PyTorch.
bool is_noise(const Recording& recording, const Frame& frame);

/// Code places of a recording's stacks, for people: "model.py:41 forward".
///
/// The place of a stack is its innermost frame of the program itself: a Python frame that is
/// neither PyTorch's nor the interpreter's. Where there is none, the innermost Python frame; then
/// the backward function that autograd ran; then the innermost C++ frame that has a name and is not
/// the allocator's.
class Places {
 public:
  explicit Places(const Recording& recording);

  /// The number of a stack's place; several stacks may share one. 0: no stack was recorded.
  std::uint32_t of(std::uint32_t stack) const { return place_of_stack_[stack]; }
  const std::string& name(std::uint32_t place) const { return names_[place]; }
  const std::string& name_of_stack(std::uint32_t stack) const { return name(of(stack)); }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::uint32_t> place_of_stack_;
  std::vector<std::string> names_;
};

}  // namespace memreplay
