#include "questions/settings/setting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "trace/trace.hpp"

namespace memreplay {
namespace {

constexpr std::array<std::uint32_t, 6> kDivisions = {2, 4, 8, 16, 32, 64};
constexpr std::array<std::uint64_t, 10> kSegmentSizes = {12, 16, 24, 32, 48, 64, 96, 128, 192, 256};
constexpr std::array<std::uint32_t, 5> kCollections = {50, 60, 70, 80, 90};
constexpr int kSegmentOption = 11;  // 2.11
constexpr int kNewParser = torch::kNewParser;

std::size_t entry_of(Bytes size) {
  const int power = static_cast<int>(std::bit_width(size)) - 1;
  return static_cast<std::size_t>(std::clamp(power - 20, 0, 15));
}

/// Every size once, by entry of the table of roundings.
class DistinctSizes {
 public:
  static constexpr std::size_t kEntries = 16;

  void add(Bytes size) {
    Entry& entry = entries_[entry_of(size)];
    entry.sizes.push_back(size);
    if (entry.sizes.size() > 2 * entry.distinct + kAtOnce) keep_distinct(entry);
  }
  /// Ascending.
  std::vector<Bytes> take(std::size_t entry) {
    keep_distinct(entries_[entry]);
    return std::move(entries_[entry].sizes);
  }

 private:
  static constexpr std::size_t kAtOnce = 1 << 16;
  struct Entry {
    std::vector<Bytes> sizes;
    std::size_t distinct = 0;  ///< when they were sorted last
  };

  static void keep_distinct(Entry& entry) {
    std::ranges::sort(entry.sizes);
    entry.sizes.erase(std::unique(entry.sizes.begin(), entry.sizes.end()), entry.sizes.end());
    entry.distinct = entry.sizes.size();
  }

  std::array<Entry, kEntries> entries_;
};

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

SettingSpace::SettingSpace(const std::vector<const Subject*>& subjects, Options options)
    : options_(std::move(options)), kept_(conf_of(options_.kept)) {
  DistinctSizes sizes;
  for (const Subject* subject : subjects) {
    if (subject->settings()) padding_ = subject->settings()->request_padding;
    const Trace& trace = subject->trace();
    for_each_block(trace, ColdColumns::of_requests, [&](std::uint64_t, const auto& events) {
      for (std::size_t i = 0; i < events.ops.size(); ++i) {
        const Bytes size = events.sizes[i] + padding_;
        if (is_request(events.ops[i]) && size != 0) sizes.add(size);
      }
      return true;
    });
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.requested != 0) sizes.add(block.requested + padding_);
      }
    }
  }
  for (std::size_t entry = 0; entry < DistinctSizes::kEntries; ++entry) {
    std::vector<Bytes> distinct = sizes.take(entry);
    if (!distinct.empty()) classes_.push_back({entry, std::move(distinct)});
  }
  torch::SettingIssues ignored;
  limits_memory_ =
      torch::read_settings(options_.kept, options_.release, ignored).per_process_memory_fraction <
      1;
}

bool SettingSpace::sensible(const Setting& s) const {
  if (s.expandable_segments && (s.max_split_size_mb != 0 || s.garbage_collection_percent != 0)) {
    return false;
  }
  if (s.max_non_split_rounding_mb != 0 && s.max_split_size_mb == 0) return false;
  torch::SettingIssues issues;
  torch::read_conf(conf_of(s, kept_), options_.release, issues);
  return torch::first_error(issues) == nullptr;
}

// The coarsest divisions that give the same sizes; none at all, if that does.
std::uint32_t SettingSpace::coarsest(const SizeClass& c, std::uint32_t given) {
  const auto rounded = [&](Bytes size, std::uint32_t divisions) {
    torch::RoundupTable table{};
    table[c.entry] = divisions;
    return torch::round_size(size, table);
  };
  const auto same = [&](std::uint32_t divisions) {
    return divisions == given || std::ranges::all_of(c.sizes, [&](Bytes size) {
             return rounded(size, divisions) == rounded(size, given);
           });
  };
  if (same(0)) return 0;
  const auto found = std::ranges::find_if(kDivisions, same);
  return found != kDivisions.end() ? *found : given;
}

Setting SettingSpace::canonical(const Setting& setting) {
  Setting s = setting;
  s.roundup_power2_divisions = {};
  for (SizeClass& c : classes_) {
    const std::uint32_t given = setting.roundup_power2_divisions[c.entry];
    const auto [at, fresh] = c.coarsest.try_emplace(given);
    if (fresh) at->second = coarsest(c, given);
    s.roundup_power2_divisions[c.entry] = at->second;
  }
  return s;
}

std::vector<Setting> SettingSpace::single_options() const {
  std::vector<Setting> settings;
  const auto add = [&](const Setting& s) {
    if (sensible(s)) settings.push_back(s);
  };
  if (varies("expandable_segments")) add({.expandable_segments = true});
  if (varies("roundup_power2_divisions")) {
    for (const std::uint32_t divisions : kDivisions) {
      Setting s;
      s.roundup_power2_divisions.fill(divisions);
      add(s);
    }
  }
  if (varies("large_segment_size_mb") && options_.release.has(kSegmentOption)) {
    for (const std::uint64_t size : kSegmentSizes) add({.large_segment_size_mb = size});
  }
  if (varies("garbage_collection_threshold") && limits_memory_) {
    for (const std::uint32_t percent : kCollections) add({.garbage_collection_percent = percent});
  }
  return settings;
}

std::vector<Setting> SettingSpace::other_roundings(const Setting& setting) const {
  std::vector<Setting> settings;
  if (!varies("roundup_power2_divisions")) return settings;
  Setting needed = setting;  // entries that no size looks at say nothing
  needed.roundup_power2_divisions = {};
  for (const SizeClass& c : classes_) {
    needed.roundup_power2_divisions[c.entry] = setting.roundup_power2_divisions[c.entry];
  }
  for (const SizeClass& c : classes_) {
    for (std::uint32_t divisions : {0u, 2u, 4u, 8u, 16u, 32u, 64u}) {
      if (setting.roundup_power2_divisions[c.entry] == divisions) continue;
      Setting s = needed;
      s.roundup_power2_divisions[c.entry] = divisions;
      settings.push_back(s);
    }
  }
  return settings;
}

std::uint64_t SettingSpace::least_limit_mb(const Setting& setting) const {
  if (!options_.release.has(kNewParser)) return torch::kLargeBuffer / kMiB + 1;
  return setting.large_segment_size_mb != 0 ? setting.large_segment_size_mb
                                            : torch::kLargeBuffer / kMiB;
}

}  // namespace memreplay
