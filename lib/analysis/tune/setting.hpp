#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "strategy/torch/conf.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

/// The options of PyTorch's allocator that decide over placement, and that a search varies. Zero
/// stands for the default of each.
struct Setting {
  bool expandable_segments = false;
  std::uint64_t max_split_size_mb = 0;
  std::uint64_t max_non_split_rounding_mb = 0;
  std::uint64_t large_segment_size_mb = 0;
  std::uint32_t garbage_collection_percent = 0;
  torch::RoundupTable roundup_power2_divisions{};

  friend auto operator<=>(const Setting&, const Setting&) = default;
};

/// Options that differ from their defaults.
int option_count(const Setting& setting);

/// The same, with a list of roundings counted by its pairs: how much there is to explain.
int complexity(const Setting& setting);

/// As it stands in PYTORCH_CUDA_ALLOC_CONF, read alike by every release; `kept` in front. Empty:
/// the defaults.
std::string conf_of(const Setting& setting, const std::vector<torch::ConfEntry>& kept);

/// The setting that a configuration comes to, as far as a search varies it.
Setting setting_of(const torch::Settings& settings);

/// The options of a configuration that a search leaves as they are.
std::vector<torch::ConfEntry> kept_options(const std::string& conf, const torch::Release& release);

}  // namespace memreplay
