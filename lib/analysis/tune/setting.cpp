#include "analysis/tune/setting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace memreplay {
namespace {

constexpr std::array<std::string_view, 6> kVaried = {
    "expandable_segments",          "max_split_size_mb",
    "max_non_split_rounding_mb",    "large_segment_size_mb",
    "garbage_collection_threshold", "roundup_power2_divisions"};
constexpr std::array<std::string_view, 3> kUnknownToNpu = {
    "max_non_split_rounding_mb", "large_segment_size_mb", "roundup_power2_divisions"};

// Empty where one number says it all. The first pair of a list counts for smaller sizes too.
std::vector<std::string> roundup_pairs(const torch::RoundupTable& table) {
  std::vector<std::string> pairs;
  if (std::ranges::adjacent_find(table, std::not_equal_to{}) == table.end()) return pairs;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i == 0 || table[i] != 0) pairs.push_back(fmt::format("{}:{}", 1u << i, table[i]));
  }
  return pairs;
}

std::string roundup_text(const torch::RoundupTable& table) {
  const std::vector<std::string> pairs = roundup_pairs(table);
  return pairs.empty() ? std::to_string(table.front()) : fmt::format("[{}]", fmt::join(pairs, ","));
}

bool rounds(const Setting& setting) {
  return setting.roundup_power2_divisions != torch::RoundupTable{};
}

}  // namespace

std::span<const std::string_view> varied_options() { return kVaried; }

std::span<const std::string_view> options_unknown_to_npu() { return kUnknownToNpu; }

int option_count(const Setting& s) {
  return static_cast<int>(s.of_another.size()) + s.expandable_segments +
         (s.max_split_size_mb != 0) + (s.max_non_split_rounding_mb != 0) +
         (s.large_segment_size_mb != 0) + (s.garbage_collection_percent != 0) + rounds(s);
}

int complexity(const Setting& s) {
  return option_count(s) + static_cast<int>(roundup_pairs(s.roundup_power2_divisions).size());
}

std::string conf_of(const std::vector<torch::ConfEntry>& entries) {
  std::vector<std::string> options;
  for (const torch::ConfEntry& entry : entries) options.push_back(entry.key + ':' + entry.value);
  return fmt::format("{}", fmt::join(options, ","));
}

std::string conf_of(const Setting& s, const std::string& kept) {
  std::vector<std::string> options;
  if (!kept.empty()) options.push_back(kept);
  if (s.expandable_segments) options.emplace_back("expandable_segments:True");
  if (s.large_segment_size_mb != 0) {
    options.push_back(fmt::format("large_segment_size_mb:{}", s.large_segment_size_mb));
  }
  if (s.max_split_size_mb != 0) {
    options.push_back(fmt::format("max_split_size_mb:{}", s.max_split_size_mb));
  }
  if (s.max_non_split_rounding_mb != 0) {
    options.push_back(fmt::format("max_non_split_rounding_mb:{}", s.max_non_split_rounding_mb));
  }
  if (s.garbage_collection_percent != 0) {
    options.push_back(
        fmt::format("garbage_collection_threshold:{}", s.garbage_collection_percent / 100.0));
  }
  if (rounds(s)) {
    options.push_back("roundup_power2_divisions:" + roundup_text(s.roundup_power2_divisions));
  }
  for (const auto& [key, value] : s.of_another) options.push_back(key + '=' + value);
  return fmt::format("{}", fmt::join(options, ","));
}

StrategySpec spec_of(const TuneResult& result, const Setting& setting) {
  const std::string conf = conf_of(setting, result.kept);
  if (result.strategy == "torch") return torch_spec_from_conf(conf);
  return parse_strategy(conf.empty() ? result.strategy : result.strategy + ':' + conf);
}

Setting setting_of(const torch::Settings& settings) {
  const torch::Settings plain;
  Setting s;
  s.expandable_segments = settings.expandable_segments;
  if (settings.max_split_size != plain.max_split_size) {
    s.max_split_size_mb = settings.max_split_size / kMiB;
  }
  if (settings.large_segment_size != plain.large_segment_size) {
    s.large_segment_size_mb = settings.large_segment_size / kMiB;
  }
  if (settings.max_non_split_rounding_size != settings.large_segment_size) {
    s.max_non_split_rounding_mb = settings.max_non_split_rounding_size / kMiB;
  }
  s.garbage_collection_percent =
      static_cast<std::uint32_t>(std::lround(settings.garbage_collection_threshold * 100));
  s.roundup_power2_divisions = settings.roundup_power2_divisions;
  return s;
}

std::vector<torch::ConfEntry> kept_options(const std::string& conf, const torch::Release& release) {
  std::vector<torch::ConfEntry> entries = torch::entries_read(conf, release);
  std::erase_if(entries, [](const torch::ConfEntry& entry) {
    return std::ranges::find(kVaried, entry.key) != kVaried.end();
  });
  return entries;
}

}  // namespace memreplay
