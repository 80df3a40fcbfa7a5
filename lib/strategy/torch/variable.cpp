#include "strategy/torch/variable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

// Builds for ROCm read it beside the first one, in earlier releases too.
constexpr std::string_view kHipVariable = "PYTORCH_HIP_ALLOC_CONF";
// Shared by all accelerators since the new parser: 2.4.1 and 2.9.1 ignore them, whatever 2.9.1
// prints of deprecated names; 2.10.0 and 2.15.0 read them.
constexpr std::string_view kSharedVariables[] = {"PYTORCH_ALLOC_CONF", kHipVariable};
constexpr std::string_view kOtherDevices[] = {"PYTORCH_NPU_ALLOC_CONF", "PYTORCH_XPU_ALLOC_CONF"};

bool is_shared(std::string_view variable) {
  return std::ranges::find(kSharedVariables, variable) != std::end(kSharedVariables);
}

bool is_variable_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

std::string unknown_variable(std::string_view variable) {
  std::vector<std::string> known{std::string(kCudaVariable)};
  known.insert(known.end(), std::begin(kSharedVariables), std::end(kSharedVariables));
  return fmt::format("PyTorch reads no variable '{}'{}", variable, did_you_mean(variable, known));
}

}  // namespace

bool reads_variable(const Release& release, std::string_view variable) {
  return !is_shared(variable) || release.has(kNewParser);
}

Assignment split_assignment(std::string_view text) {
  constexpr std::string_view kExport = "export ";
  std::string_view rest = text;
  if (rest.starts_with(kExport)) rest.remove_prefix(kExport.size());
  const std::size_t equals = rest.find('=');
  if (equals == rest.npos || !is_variable_name(rest.substr(0, equals)))
    return {"", std::string(text)};
  std::string_view conf = rest.substr(equals + 1);
  const bool quoted = conf.size() > 1 && conf.front() == conf.back() &&
                      (conf.front() == '\'' || conf.front() == '"');
  if (quoted) conf = conf.substr(1, conf.size() - 2);
  return {std::string(rest.substr(0, equals)), std::string(conf)};
}

SettingIssues lint_variable(std::string_view variable, std::string_view version) {
  if (variable.empty() || variable == kCudaVariable) return {};
  if (std::ranges::find(kOtherDevices, variable) != std::end(kOtherDevices)) return {};
  if (!is_shared(variable)) return {{Severity::error, unknown_variable(variable)}};
  const std::string_view built = variable == kHipVariable ? " built for CUDA" : "";
  if (version.empty()) {
    return {{Severity::warning,
             fmt::format("{} is read from PyTorch 2.{} on; earlier releases{} ignore it without a "
                         "word, all of them read {}",
                         variable, kNewParser, built, kCudaVariable)}};
  }
  const Release release = parse_release(version);
  if (reads_variable(release, variable)) return {};
  return {
      {Severity::warning,
       fmt::format("PyTorch {}{} ignores {} without a word, and so none of this holds; it reads {}",
                   release.text(), built, variable, kCudaVariable)}};
}

}  // namespace memreplay::torch
