#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/recorded_settings.hpp"
#include "core/torch_sizes.hpp"
#include "strategy/registry.hpp"
#include "strategy/torch/conf.hpp"
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
  /// Up to 2.9 only a call set a limit, and set one with the fraction 1 as well.
  bool fraction_set_by_call = false;
  bool throw_on_cudamalloc_oom = false;
  /// "0.5" of the device, or "8G"; empty: the whole device and an eighth.
  std::string expandable_segments_reserve;
  std::string backend = "native";
  Bytes request_padding = 0;  ///< added before rounding; not PyTorch's, see RecordedSettings
  Bytes large_alignment = 0;  ///< likewise; 0: none

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// `replay` takes a per_process_memory_fraction for every release, as a stand-in for the call of
/// set_per_process_memory_fraction; `lint` holds it against what the release reads.
enum class Purpose { replay, lint };

/// Reads entries by the rules of `release`; every complaint goes to `issues`, and what is wrong
/// keeps its default.
Settings read_settings(const std::vector<ConfEntry>& entries, const Release& release,
                       SettingIssues& issues, Purpose purpose = Purpose::replay);

/// The entries of a configuration, as far as the rules of `release` read them without an error:
/// a recorded one may have been written by later rules, or by nobody.
std::vector<ConfEntry> entries_read(std::string_view conf, const Release& release);

/// Reads a whole configuration string by the rules of `release`, as read_settings does.
Settings read_conf(std::string_view conf, const Release& release, SettingIssues& issues);

/// The settings that a recording carries: its configuration string, and over it the values that it
/// states one by one. What neither tells keeps its default.
Settings settings_of(const RecordedSettings& recorded, const Release& release);

/// What the allocator may hold of a device; unset: no limit of its own. `total`, what the device
/// reports, is asked for only where it decides: a watcher of the device would take it for a
/// question from the allocator.
std::optional<Bytes> memory_limit(const Settings& settings, const std::function<Bytes()>& total);

/// The one option of a specification that stands for a whole configuration string.
inline constexpr std::string_view kConfOption = "conf";

}  // namespace memreplay::torch

namespace memreplay {

/// The strategy that stands for a PYTORCH_CUDA_ALLOC_CONF; its text means the
/// same to parse_strategy.
StrategySpec torch_spec_from_conf(std::string_view conf);

}  // namespace memreplay
