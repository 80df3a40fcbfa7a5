#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// The one variable that every release reads, and before all others.
inline constexpr std::string_view kCudaVariable = "PYTORCH_CUDA_ALLOC_CONF";

/// Whether the release, built for CUDA, takes its settings from this environment variable. One that
/// belongs to another device (PYTORCH_NPU_ALLOC_CONF) is taken for read.
bool reads_variable(const Release& release, std::string_view variable);

/// A setting as a person gives it: "CONF", "VARIABLE=CONF" or a line to paste,
/// "export VARIABLE='CONF'".
struct Assignment {
  std::string variable;  ///< empty: none was named
  std::string conf;
};
Assignment split_assignment(std::string_view text);

/// What is wrong with the name of the variable, for that release; an empty version stands for any.
SettingIssues lint_variable(std::string_view variable, std::string_view version);

}  // namespace memreplay::torch

namespace memreplay {

using torch::lint_variable;
using torch::split_assignment;

}  // namespace memreplay
