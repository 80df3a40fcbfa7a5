#pragma once

#include <string_view>
#include <vector>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// All that is wrong with a configuration string, fights itself in it or has no effect. An empty
/// version: the newest release.
SettingIssues lint_settings(std::string_view conf, std::string_view version);

}  // namespace memreplay::torch

namespace memreplay {

using torch::lint_settings;
using torch::SettingIssue;

}  // namespace memreplay
