#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// Code of the program that runs several times in a forward pass, such as a layer.
struct LayerCode {
  std::string selector;         ///< "code=models.py:47-49"
  Bytes saved = 0;              ///< by its forward passes for their backward, all together
  std::uint32_t instances = 0;  ///< in a forward pass, at most
  std::uint64_t begins = 0;     ///< its first request
};

/// Told by stacks: a function of the program's own, reached by one way of calls, whose frames were
/// in several of its lines, or in one. What saves most comes first. O(stacks · frames).
std::vector<LayerCode> layers_of(const Recording& recording, const Trace& trace);

}  // namespace memreplay
