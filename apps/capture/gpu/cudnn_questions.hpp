#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memreplay::gpu {

/// A way to compute a graph of cuDNN, as the library itself has it.
struct CudnnEngine {
  std::int64_t index = 0;
  std::int64_t workspace = 0;        ///< bytes
  std::vector<int> numerical_notes;  ///< cudnnBackendNumericalNote_t
  std::vector<int> behaviour_notes;  ///< cudnnBackendBehaviorNote_t
};

/// What the real cuDNN has for a graph on a card of these settings, best first; those alone that
/// can be planned. Unset where none is there to be asked: the person is told why. `mode` is
/// cudnnBackendHeurMode_t, `graph` as record/cudnn_library.hpp has it. Asked once for each.
std::optional<std::vector<CudnnEngine>> ask_cudnn(int mode, const std::string& graph);

/// What the library says, as JSON, of the plan of the engine at this place of those; unset where it
/// does not.
std::optional<std::string> ask_cudnn_for_plan(int mode, std::size_t place,
                                              const std::string& graph);

}  // namespace memreplay::gpu
