#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// All that is wrong with a configuration string, fights itself in it or has no effect. An empty
/// version: the newest release.
SettingIssues lint_settings(std::string_view conf, std::string_view version);

/// As above, by the rules of torch_npu 2.1 to 26.2 (its NPUAllocatorConfig.cpp).
SettingIssues lint_npu_settings(std::string_view conf);
/// Whether torch_npu alone has an option of that configuration.
bool has_npu_options(std::string_view conf);

/// What stands in a configuration for ',' and ':' and is neither, with the text that was meant; no
/// release reads it.
SettingIssues lint_separators(std::string_view conf, std::string& meant);

}  // namespace memreplay::torch

namespace memreplay {

using torch::has_npu_options;
using torch::lint_npu_settings;
using torch::lint_separators;
using torch::lint_settings;
using torch::SettingIssue;

}  // namespace memreplay
