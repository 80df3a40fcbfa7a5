#pragma once

#include <string>

#include "analysis/run/setup.hpp"

namespace memreplay {

/// What `--device` names: "sim", "host", "cuda" or "cuda:N". Throws UsageError.
DeviceChoice device_argument(const std::string& text);

}  // namespace memreplay
