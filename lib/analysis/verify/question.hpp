#pragma once

#include <string>

#include "analysis/recorded/inputs.hpp"

namespace memreplay {

/// Does the model give every recorded address and segment?
struct VerifyQuestion {
  InputOptions input;
  std::string torch_version;  ///< empty: the rules that fit best
};

}  // namespace memreplay
