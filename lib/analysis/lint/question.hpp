#pragma once

#include <string>

namespace memreplay {

/// Is this setting valid, and does it do anything?
struct LintQuestion {
  /// A PYTORCH_CUDA_ALLOC_CONF, also with the lines around it (assignments_in), or the path of a
  /// recording or of a file with such lines.
  std::string conf_or_path;
  std::string release;  ///< PyTorch's; empty: the newest
};

}  // namespace memreplay
