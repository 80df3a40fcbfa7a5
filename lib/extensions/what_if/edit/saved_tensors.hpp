#pragma once

#include <cstdint>
#include <vector>

#include "extensions/what_if/edit/forward_passes.hpp"
#include "program/program_course.hpp"

namespace memreplay {

/// A tensor that a node of the backward pass unpacks: as large as a block, or as a part of one.
struct Unpacked {
  std::uint32_t like = 0;  ///< block; of a weight: what was multiplied with it
  Bytes size = 0;
  std::uint32_t by = 0;  ///< a block of the operation that saved it
  bool last = false;     ///< the graph lets go of the block with this node
};

/// A node of a backward pass: from its first request to where it frees what was there before it.
struct GraphNode {
  std::uint64_t begin = 0;         ///< event of its first request
  std::uint64_t computed = 0;      ///< first event after its requests, but for the sum of a bias
  std::vector<Unpacked> unpacked;  ///< in the order in which its function takes them
};

/// A strided view that is saved is made contiguous on its way out.
struct Packed {
  std::uint64_t before = 0;  ///< event of its operation's first request
  std::uint32_t like = 0;
  Bytes size = 0;
  std::uint32_t count = 0;  ///< one after the other
};

/// What the graph of a program holds, as torch.autograd.graph.saved_tensors_hooks would see it.
struct SavedTensors {
  std::vector<bool> held;            ///< by block: it dies when the graph lets go of it
  std::vector<std::uint32_t> saver;  ///< by block: one of the operation that saved it, or itself
  std::vector<GraphNode> nodes;      ///< by their begin
  std::vector<Packed> packed;        ///< by event
};

/// Whether what a backward pass frees last is held by a variable of the program as well.
enum class HeldInputs {
  by_line,  ///< told by the line that asked for it
  others,   ///< the other way round
};

/// All outlive the call. O(events + operations · gradients).
SavedTensors saved_tensors(const ProgramCourse& course, const ForwardPasses& forwards,
                           HeldInputs inputs);

}  // namespace memreplay
