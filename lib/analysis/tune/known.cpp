#include "analysis/tune/known.hpp"

#include <algorithm>

namespace memreplay {
namespace {

Bytes bytes_of(const Setting& s, Limit limit) {
  if (s.*limit != 0) return s.*limit * kMiB;
  if (limit == kSplitLimit) return torch::kUnlimited;
  return s.large_segment_size_mb != 0 ? s.large_segment_size_mb * kMiB : torch::kLargeBuffer;
}

}  // namespace

void Gap::narrow(const torch::WatchedLimit& limit) {
  low = std::max(low, limit.lowest());
  high = std::min(high, limit.highest());
}

Setting KnownReplays::key_of(const Setting& setting) const {
  Setting key = space_.canonical(setting);
  key.max_split_size_mb = 0;
  key.max_non_split_rounding_mb = 0;
  return key;
}

void KnownReplays::add(const Setting& setting, const Known& known) {
  replays_[key_of(setting)].push_back(known);
}

const Known* KnownReplays::find(const Setting& setting) const {
  const auto at = replays_.find(key_of(setting));
  if (at == replays_.end()) return nullptr;
  const auto found = std::ranges::find_if(at->second, [&](const Known& known) {
    return known.split.holds(bytes_of(setting, kSplitLimit)) &&
           known.rounding.holds(bytes_of(setting, kRoundingLimit));
  });
  return found == at->second.end() ? nullptr : &*found;
}

std::vector<Values> KnownReplays::unknown(const Setting& base, Limit limit, std::uint64_t from,
                                          std::uint64_t highest) const {
  const Limit other = limit == kSplitLimit ? kRoundingLimit : kSplitLimit;
  std::vector<Values> known_values;
  if (const auto at = replays_.find(key_of(base)); at != replays_.end()) {
    for (const Known& known : at->second) {
      if (!known.gap(other).holds(bytes_of(base, other))) continue;
      const Gap& gap = known.gap(limit);
      known_values.emplace_back(gap.low / kMiB + 1, gap.high / kMiB + 1);
    }
  }
  std::ranges::sort(known_values);
  std::vector<Values> unknown;
  for (const auto& [first, last] : known_values) {
    if (first > from) unknown.emplace_back(from, std::min(first, highest + 1));
    from = std::max(from, last);
  }
  if (from <= highest) unknown.emplace_back(from, highest + 1);
  std::erase_if(unknown, [](const Values& values) { return values.first >= values.second; });
  return unknown;
}

}  // namespace memreplay
