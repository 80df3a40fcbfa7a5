#include "analysis/tune/space.hpp"

#include <algorithm>
#include <array>
#include <bit>

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

}  // namespace

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
