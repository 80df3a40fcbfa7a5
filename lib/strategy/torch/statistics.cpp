#include "strategy/torch/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace memreplay::torch {
namespace {

void flatten(Counters& counters, const std::string& name, const Stat& stat) {
  counters.emplace_back(name + ".allocated", stat.allocated);
  counters.emplace_back(name + ".current", stat.current);
  counters.emplace_back(name + ".freed", stat.allocated - stat.current);
  counters.emplace_back(name + ".peak", stat.peak);
}

void flatten(Counters& counters, const std::string& name, const StatArray& stats) {
  flatten(counters, name + ".all", stats.all);
  flatten(counters, name + ".large_pool", stats.of_pool[0]);
  flatten(counters, name + ".small_pool", stats.of_pool[1]);
}

}  // namespace

Counters memory_stats(const Statistics& s, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools) {
  Counters counters;
  flatten(counters, "active", s.active);
  flatten(counters, "active_bytes", s.active_bytes);
  flatten(counters, "allocated_bytes", s.allocated_bytes);
  flatten(counters, "allocation", s.allocation);
  flatten(counters, "inactive_split", s.inactive_split);
  flatten(counters, "inactive_split_bytes", s.inactive_split_bytes);
  flatten(counters, "oversize_allocations", s.oversize_allocations);
  flatten(counters, "oversize_segments", s.oversize_segments);
  flatten(counters, "requested_bytes", s.requested_bytes);
  flatten(counters, "reserved_bytes", s.reserved_bytes);
  flatten(counters, "segment", s.segment);
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
      flatten(counters,
              fmt::format("reserved_bytes_by_private_pools.{}_{}", pools[pool].first,
                          pools[pool].second),
              s.reserved_by_pool[pool]);
    }
  }
  std::ranges::sort(counters);
  return counters;
}

}  // namespace memreplay::torch
