#pragma once

#include <cstdint>
#include <vector>

#include "analysis/edit/lives.hpp"

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

  /// Asked for before a backward pass, freed in or after it.
  bool is_saved(const BlockLife& life) const;

 private:
  std::vector<bool> backward_;  ///< by stack
  bool known_ = false;
  std::vector<std::uint32_t> backward_before_;  ///< by event, and after the last
  std::vector<std::uint32_t> others_before_;
};

}  // namespace memreplay
