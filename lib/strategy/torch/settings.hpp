#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/recorded_settings.hpp"
#include "core/torch_sizes.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/release.hpp"

namespace memreplay::torch {

/// What PYTORCH_CUDA_ALLOC_CONF sets, in bytes, under PyTorch's names.
struct Settings {
  Bytes max_split_size = kUnlimited;
  Bytes max_non_split_rounding_size = kLargeBuffer;
  Bytes large_segment_size = kLargeBuffer;
  RoundupTable roundup_power2_divisions{};
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  double per_process_memory_fraction = 1;
  std::optional<Bytes> memory_limit;  ///< known in bytes: stands above the fraction
  bool throw_on_cudamalloc_oom = false;
  std::string expandable_segments_reserve;  ///< as written; empty: the whole device and an eighth
  std::string backend = "native";

  friend bool operator==(const Settings&, const Settings&) = default;
};

struct SettingIssue {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  std::string text;
};

/// A configuration string as PyTorch's tokenizer sees it: "key:value,key:[a:1,b:2]".
struct ConfEntry {
  std::string key;
  std::string value;  ///< brackets kept, blanks dropped
};

/// Throws UsageError where the string cannot be taken apart.
std::vector<ConfEntry> split_conf(std::string_view conf);

/// Reads entries by the rules of `release`; every complaint goes to `issues`, and what is wrong
/// keeps its default.
Settings read_settings(const std::vector<ConfEntry>& entries, const Release& release,
                       std::vector<SettingIssue>& issues);

/// The settings that a recording carries: its configuration string, and over it the values that it
/// states one by one. What neither tells keeps its default.
Settings settings_of(const RecordedSettings& recorded, const Release& release);

/// All that is wrong with, or fights itself in, a configuration string. Empty: nothing.
std::vector<SettingIssue> lint_settings(std::string_view conf, std::string_view torch_version);

}  // namespace memreplay::torch

namespace memreplay {

using torch::lint_settings;
using torch::SettingIssue;

/// The strategy that stands for a PYTORCH_CUDA_ALLOC_CONF; its text is "torch" or "torch:CONF".
StrategySpec torch_spec_from_conf(std::string_view conf);

}  // namespace memreplay
