#include "questions/settings/experiment.hpp"

#include <algorithm>

#include "run/run.hpp"

namespace memreplay {
namespace {

Bytes large_segment_of(const Setting& s) {
  return s.large_segment_size_mb != 0 ? s.large_segment_size_mb * kMiB : torch::kLargeBuffer;
}

Bytes bytes_of(const Setting& s, Limit limit) {
  if (s.*limit != 0) return s.*limit * kMiB;
  return limit == kSplitLimit ? torch::kUnlimited : large_segment_of(s);
}

// With what other traces came to before.
RunSoFar sum(const RunSoFar& before, const RunSoFar& now) {
  return {before.ooms + now.ooms, before.oom_retries + now.oom_retries,
          std::max(before.peak_reserved, now.peak_reserved),
          before.device_calls + now.device_calls};
}

}  // namespace

Experiment try_on(const Bench& bench, const StrategySpec& spec, ReplayOptions replaying,
                  const std::vector<RunSoFar>& front) {
  Experiment experiment;
  RunSoFar before;
  if (!front.empty()) {
    replaying.stops.hopeless = [&](const RunSoFar& so_far) {
      const RunSoFar total = sum(before, so_far);
      experiment.given_up = std::ranges::any_of(
          front, [&](const RunSoFar& other) { return dominates(other, total); });
      return experiment.given_up;
    };
  }
  for (std::size_t i = 0; i < bench.subjects.size() && !experiment.given_up; ++i) {
    const Subject& subject = *bench.subjects[i];
    replaying.program.refusals_stand = i < bench.unknown_size.size() && bench.unknown_size[i];
    const Contender contender(subject, spec);
    replaying.device = bench.devices[i];
    auto [result, trial] = replay(contender, replaying);
    experiment.cancelled |= !result.finished && !experiment.given_up;
    if (const auto* torch = dynamic_cast<const torch::Allocator*>(&trial->strategy())) {
      experiment.shown.narrow(*torch);
    }
    Run& run = experiment.outcome.runs.emplace_back(
        judged(contender, Setup{}, bench.devices[i].room(), std::move(result), std::nullopt));
    if (run.exact && !run.as_recorded && bench.assumed_size[i] && trial->usage().refusals > 0) {
      run.exact = false;
      run.inexact_because =
          "the recording does not say how large the device was, and here it was full";
    }
    before = experiment.outcome.total();
  }
  return experiment;
}

void Gap::narrow(const torch::WatchedLimit& limit) {
  low = std::max(low, limit.lowest());
  high = std::min(high, limit.highest());
}

void Known::narrow(const torch::Allocator& replayed) {
  split.narrow(replayed.max_split_size());
  rounding.narrow(replayed.max_non_split_rounding_size());
  if (replayed.needed_large_segments()) large_segment = replayed.settings().large_segment_size;
}

Setting KnownReplays::kind_of(const Setting& setting) const {
  Setting kind = space_.canonical(setting);
  if (!kind.expandable_segments) kind.large_segment_size_mb = 0;
  return kind;
}

Setting KnownReplays::key_of(const Setting& setting) const {
  Setting key = kind_of(setting);
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
           known.rounding.holds(bytes_of(setting, kRoundingLimit)) &&
           known.holds(large_segment_of(setting));
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
      if (!known.holds(large_segment_of(base))) continue;
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
