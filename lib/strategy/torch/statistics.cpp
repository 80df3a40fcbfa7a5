#include "strategy/torch/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace memreplay::torch {
namespace {

/// A statistic as PyTorch tells it.
struct Told {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
};

Told told(const Stat& stat) { return {stat.current(), stat.peak, stat.allocated}; }
Told told_live(const LiveStat& stat) { return {stat.current(), stat.peak, stat.allocated}; }
Told told_active(const LiveStat& stat) {
  return {stat.active(), stat.active_peak, stat.allocated + stat.found_pending};
}

void flatten(Counters& counters, const std::string& name, const Told& stat) {
  counters.emplace_back(name + ".allocated", stat.allocated);
  counters.emplace_back(name + ".current", stat.current);
  counters.emplace_back(name + ".freed", stat.allocated - stat.current);
  counters.emplace_back(name + ".peak", stat.peak);
}

void flatten(Counters& counters, const std::string& name, Told all, const Told& large,
             const Told& small) {
  all.allocated = large.allocated + small.allocated;
  flatten(counters, name + ".all", all);
  flatten(counters, name + ".large_pool", large);
  flatten(counters, name + ".small_pool", small);
}

}  // namespace

Counters memory_stats(const Statistics& s, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools) {
  Counters counters;
  const auto& [large, small] = s.of_pool;
  const auto tell = [&](const std::string& name, const auto& value) {
    flatten(counters, name, value(s.all), value(large), value(small));
  };
  using Of = const PoolStatistics&;
  tell("active", [](Of of) { return told_active(of.blocks); });
  tell("active_bytes", [](Of of) { return told_active(of.bytes); });
  tell("allocated_bytes", [](Of of) { return told_live(of.bytes); });
  tell("allocation", [](Of of) { return told_live(of.blocks); });
  tell("inactive_split", [](Of of) { return told(of.inactive_split); });
  tell("inactive_split_bytes", [](Of of) { return told(of.inactive_split_bytes); });
  tell("requested_bytes", [](Of of) { return told(of.requested_bytes); });
  tell("reserved_bytes", [](Of of) { return told(of.reserved_bytes); });
  tell("segment", [](Of of) { return told(of.segment); });
  flatten(counters, "oversize_allocations", told(s.oversize_allocations));
  flatten(counters, "oversize_segments", told(s.oversize_segments));
  const auto count = [&](std::string_view name, std::uint64_t value) {
    counters.emplace_back(name, static_cast<std::int64_t>(value));
  };
  count("max_split_size", max_split_size);
  count("num_alloc_retries", s.num_alloc_retries);
  if (release.has(3)) {
    count("num_device_alloc", s.num_device_alloc);
    count("num_device_free", s.num_device_free);
  }
  if (release.has(12)) count("num_oom_rejections", s.num_oom_rejections);
  count("num_ooms", s.num_ooms);
  if (release.has(2)) count("num_sync_all_streams", s.num_sync_all_streams);
  if (release.has(13)) {
    for (std::size_t pool = 1; pool < s.reserved_by_pool.size() && pool < pools.size(); ++pool) {
      const auto& [of_all, of_large, of_small] = s.reserved_by_pool[pool];
      flatten(counters,
              fmt::format("reserved_bytes_by_private_pools.{}_{}", pools[pool].first,
                          pools[pool].second),
              told(of_all), told(of_large), told(of_small));
    }
  }
  std::ranges::sort(counters);
  return counters;
}

}  // namespace memreplay::torch
