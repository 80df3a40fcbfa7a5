#pragma once

#include <string_view>

#include "strategy/torch/conf.hpp"

namespace memreplay::torch {

/// The one variable that every release reads, and before all others.
inline constexpr std::string_view kCudaVariable = "PYTORCH_CUDA_ALLOC_CONF";

/// Whether the release, built for CUDA, takes its settings from this environment variable. One that
/// belongs to another device (PYTORCH_NPU_ALLOC_CONF) is taken for read.
bool reads_variable(const Release& release, std::string_view variable);

/// Builds for ROCm read it beside the first one, in earlier releases too.
inline constexpr std::string_view kHipVariable = "PYTORCH_HIP_ALLOC_CONF";
/// torch_npu's variable, whose options are others (lint_npu_settings).
inline constexpr std::string_view kNpuVariable = "PYTORCH_NPU_ALLOC_CONF";

/// PYTORCH_NO_CUDA_MEMORY_CACHING and those of other devices: no settings, but a switch.
bool turns_caching_off(std::string_view variable);

/// PYTORCH_MPS_HIGH_WATERMARK_RATIO and its like: what the allocator for Apple's GPUs may have.
bool is_mps_variable(std::string_view variable);
/// No setting of an allocator, nor meant to be one: another program's, or another of PyTorch's.
bool is_of_another_program(std::string_view variable);

/// The one of two variables that the release reads where both are set; empty where that is no
/// matter of order.
std::string_view variable_read_first(std::string_view one, std::string_view other,
                                     std::string_view version);

/// What is wrong with the name of the variable, for that release; an empty version stands for any.
/// For a switch it is what that does with the `value` it is given.
SettingIssues lint_variable(std::string_view variable, std::string_view value,
                            std::string_view version);

}  // namespace memreplay::torch

namespace memreplay {

using torch::is_mps_variable;
using torch::is_of_another_program;
using torch::lint_variable;

}  // namespace memreplay
