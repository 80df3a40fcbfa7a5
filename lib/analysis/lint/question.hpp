#pragma once

#include <string>

namespace memreplay {

/// Is this setting valid, and does it do anything?
struct LintQuestion {
  std::string conf_or_path;   ///< a PYTORCH_CUDA_ALLOC_CONF, or the path of a recording
  std::string torch_version;  ///< empty: the newest release
};

}  // namespace memreplay
