#include "strategy/torch/variable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "strategy/torch/assigned_value.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

// Shared by all accelerators since the new parser: 2.4.1 and 2.9.1 ignore them, whatever 2.9.1
// prints of deprecated names; 2.10.0 and 2.15.0 read them.
constexpr std::string_view kSharedVariables[] = {"PYTORCH_ALLOC_CONF", kHipVariable};
constexpr std::string_view kOtherDevices[] = {kNpuVariable, "PYTORCH_XPU_ALLOC_CONF",
                                              "PYTORCH_MUSA_ALLOC_CONF", "PYTORCH_MLU_ALLOC_CONF"};

bool is_shared(std::string_view variable) {
  return std::ranges::find(kSharedVariables, variable) != std::end(kSharedVariables);
}

std::string unknown_variable(std::string_view variable) {
  std::vector<std::string> known{std::string(kCudaVariable)};
  known.insert(known.end(), std::begin(kSharedVariables), std::end(kSharedVariables));
  return fmt::format("PyTorch reads no variable '{}'{}", variable,
                     did_you_mean(in_capitals(variable), known));
}

// MPSAllocator.mm: shares of what Metal recommends; the defaults, and the most.
constexpr double kMostOfMps = 2;
constexpr double kLowOfMps = 1.4;

SettingIssues lint_mps(std::string_view variable, std::string_view value) {
  const bool high = variable.find("HIGH_WATERMARK") != variable.npos;
  double ratio = -1;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), ratio);
  const bool whole = failure == std::errc() && end == value.data() + value.size();
  if (!whole || ratio < 0 || ratio > kMostOfMps) {
    return {
        {Severity::error, fmt::format("{} is '{}'; expected a share from 0 to {:g} of what Metal "
                                      "recommends for this Mac",
                                      variable, value, kMostOfMps)}};
  }
  if (ratio == 0) {
    return {{Severity::warning,
             fmt::format("0 removes the {} limit of PyTorch's allocator for MPS (Apple's GPUs): {}",
                         high ? "upper" : "lower",
                         high ? "the system may then swap or fail"
                              : "its cache is then never trimmed early")}};
  }
  if (high && ratio < kLowOfMps) {
    return {
        {Severity::warning,
         fmt::format("PyTorch refuses an upper share below the lower one, which is {:g} by default "
                     "(\"invalid low watermark ratio\"): set PYTORCH_MPS_LOW_WATERMARK_RATIO to {} "
                     "or less too",
                     kLowOfMps, value)}};
  }
  return {};
}

/// Since this release the switch is on by "1" alone, before by any value.
constexpr int kOnlyOneTurnsOff = 7;

std::string about_no_caching(std::string_view variable, std::string_view value,
                             const Release& release) {
  // Other devices have it from torch_npu and the like, which look only whether it is set.
  const bool counts = release.has(kOnlyOneTurnsOff) && (variable.find("CUDA") != variable.npos ||
                                                        variable.find("HIP") != variable.npos);
  if (counts && value != "1") {
    return fmt::format(
        "{} turns the caching allocator off only with the value 1 since PyTorch 2.{}: '{}' keeps "
        "the cache and all options. Earlier releases only check whether it is set, and turn it off",
        variable, kOnlyOneTurnsOff, value);
  }
  const bool is_meant_off = value.empty() || value == "0";
  return fmt::format(
      "{} turns the caching allocator off: each request becomes a cudaMalloc and each free a "
      "cudaFree, which is slow, and its options have no effect; use it only to find invalid "
      "accesses{}",
      variable,
      is_meant_off ? fmt::format(". This release only checks whether it is set: '{}' turns it off "
                                 "too; unset it to keep the cache",
                                 value)
                   : "");
}

}  // namespace

bool reads_variable(const Release& release, std::string_view variable) {
  return !is_shared(variable) || release.has(kNewParser);
}

bool is_mps_variable(std::string_view variable) {
  return variable.starts_with("PYTORCH_MPS_") && variable.ends_with("_WATERMARK_RATIO");
}

bool is_of_another_program(std::string_view variable) {
  if (variable.empty() || variable == kCudaVariable || is_shared(variable) ||
      is_mps_variable(variable) || turns_caching_off(variable) ||
      std::ranges::find(kOtherDevices, variable) != std::end(kOtherDevices)) {
    return false;
  }
  const std::string capitals = in_capitals(variable);
  const auto has = [&](std::string_view word) { return capitals.find(word) != capitals.npos; };
  const bool is_meant = has("ALLOC_CONF") || (has("TORCH") && (has("ALLOC") || has("_CONF")));
  return !is_meant && did_you_mean(capitals, std::vector{std::string(kCudaVariable)}).empty();
}

bool turns_caching_off(std::string_view variable) {
  return variable.starts_with("PYTORCH_NO_") && variable.ends_with("_MEMORY_CACHING");
}

std::string_view variable_read_first(std::string_view one, std::string_view other,
                                     std::string_view version) {
  // AcceleratorAllocatorConfig takes the first that is set; measured with 2.10.0, 2.11.0, 2.15.0.
  constexpr std::string_view kOrder[] = {kCudaVariable, kHipVariable, "PYTORCH_ALLOC_CONF"};
  if (one == other || !parse_release(version).has(kNewParser)) return {};
  const auto* const at = std::ranges::find(kOrder, one);
  const auto* const at_other = std::ranges::find(kOrder, other);
  if (at == std::end(kOrder) || at_other == std::end(kOrder)) return {};
  return *std::min(at, at_other);
}

SettingIssues lint_variable(std::string_view variable, std::string_view value,
                            std::string_view version) {
  if (turns_caching_off(variable)) {
    return {{Severity::warning, about_no_caching(variable, value, parse_release(version))}};
  }
  if (is_mps_variable(variable)) return lint_mps(variable, value);
  if (variable.empty() || variable == kCudaVariable) return {};
  if (std::ranges::find(kOtherDevices, variable) != std::end(kOtherDevices)) return {};
  if (!is_shared(variable)) return {{Severity::error, unknown_variable(variable)}};
  const std::string_view built = variable == kHipVariable ? " built for CUDA" : "";
  // A person who names it has a build for ROCm.
  if (version.empty() && variable == kHipVariable) return {};
  if (version.empty()) {
    return {{Severity::warning, fmt::format("{} is read from PyTorch 2.{} on; earlier releases "
                                            "ignore it silently; all of them read {}",
                                            variable, kNewParser, kCudaVariable)}};
  }
  const Release release = parse_release(version);
  if (reads_variable(release, variable)) return {};
  return {
      {Severity::warning,
       fmt::format("PyTorch {}{} ignores {} silently, so none of this has an effect; it reads {}",
                   release.text(), built, variable, kCudaVariable)}};
}

}  // namespace memreplay::torch
