#pragma once

#include <optional>
#include <string>

#include "analysis/recorded/inputs.hpp"
#include "verify/scripted_device.hpp"

namespace memreplay {

/// Does the model give every recorded address and segment?
struct VerifyQuestion {
  InputOptions input;
  std::string torch_version;           ///< empty: the rules that fit best
  std::optional<StatedDevice> device;  ///< unset: found by trying
};

}  // namespace memreplay
