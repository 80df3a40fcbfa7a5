#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// Code that runs several times in a forward pass, such as a layer.
struct LayerCode {
  std::string code;      ///< its lines: "models.py:47-49"
  std::string function;  ///< "forward"
  std::string package;   ///< whose it is: "torchvision"; empty: the program's own
  /// The program's own lines that call it: "models.py:80". If it is called through others that do
  /// nothing else, the outermost.
  std::vector<std::string> calls;
  bool called_directly = true;  ///< through no other code, such as torch.nn.Sequential
  bool in_loop = false;         ///< these lines call it twice each or more, on average
  Bytes saved = 0;              ///< by its forward passes for their backward, all together
  std::uint32_t instances = 0;  ///< in a forward pass, at most
  std::uint64_t begins = 0;     ///< its first request

  std::string selector() const { return "code=" + code; }
};

/// Told by stacks: functions of the program's own; where these save little, those of installed
/// packages too, then modules of PyTorch. A loop over layers and what only calls a layer are none,
/// nor is what runs an optimizer. What saves most comes first.
/// O(functions · (allocations + stacks · frames)).
std::vector<LayerCode> layers_of(const Recording& recording, const Trace& trace);

}  // namespace memreplay
