#pragma once

#include <string>

namespace memreplay {

/// Is this setting valid, and does it do anything?
struct LintQuestion {
  /// A PYTORCH_CUDA_ALLOC_CONF, also as VARIABLE=CONF, or the path of a recording.
  std::string conf_or_path;
  std::string release;  ///< PyTorch's; empty: the newest
};

}  // namespace memreplay
