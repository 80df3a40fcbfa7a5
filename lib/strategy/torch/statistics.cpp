#include "strategy/torch/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace memreplay::torch {
namespace {

/// A statistic as PyTorch tells it.
struct ShownStatistic {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
};

ShownStatistic told(const Stat& stat) { return {stat.current(), stat.peak, stat.allocated}; }

void flatten(Counters& counters, const std::string& name, const ShownStatistic& stat) {
  counters.emplace_back(name + ".allocated", stat.allocated);
  counters.emplace_back(name + ".current", stat.current);
  counters.emplace_back(name + ".freed", stat.allocated - stat.current);
  counters.emplace_back(name + ".peak", stat.peak);
}

void flatten(Counters& counters, const std::string& name, std::int64_t peak,
             const ShownStatistic& large, const ShownStatistic& small) {
  flatten(counters, name + ".all",
          {large.current + small.current, peak, large.allocated + small.allocated});
  flatten(counters, name + ".large_pool", large);
  flatten(counters, name + ".small_pool", small);
}

void flatten(Counters& counters, const std::string& name, const PooledStat& stat) {
  flatten(counters, name, stat.peak, told(stat.of_pool[0]), told(stat.of_pool[1]));
}

void flatten_active(Counters& counters, const std::string& name, const LiveStat& stat) {
  const auto active = [&](bool small) {
    const LiveStat::Pending& pending = stat.pending[small];
    return ShownStatistic{stat.active(small), pending.active_peak,
                          stat.of_pool[small].allocated + pending.found};
  };
  flatten(counters, name, stat.active_peak, active(false), active(true));
}

/// All keys of pools follow each other. There may be many, so they are made in their order.
void insert_pools(Counters& counters, const std::vector<PooledStat>& reserved,
                  std::span<const PoolId> pools) {
  std::vector<std::pair<std::string, std::size_t>> names;
  for (std::size_t pool = 1; pool < reserved.size() && pool < pools.size(); ++pool) {
    names.emplace_back(fmt::format("reserved_bytes_by_private_pools.{}_{}.", pools[pool].first,
                                   pools[pool].second),
                       pool);
  }
  if (names.empty()) return;
  std::ranges::sort(names);
  Counters added;
  for (auto& [name, pool] : names) {
    name.pop_back();
    flatten(added, name, reserved[pool]);
  }
  const auto at = std::ranges::lower_bound(counters, added.front());
  counters.insert(at, std::move_iterator(added.begin()), std::move_iterator(added.end()));
}

}  // namespace

void PooledStat::note(bool small) {
  of_pool[small].note_peak();
  peak = std::max(peak, current());
  deal_out(peak - current(), small, {of_pool[0].peak, of_pool[1].peak});
}

void LiveStat::note(bool small) {
  of_pool[small].note_peak();
  pending[small].active_peak = std::max(pending[small].active_peak, active(small));
  peak = std::max(peak, current());
  active_peak = std::max(active_peak, active());
  const auto most = [&](bool of) {
    return std::min(of_pool[of].peak, pending[of].active_peak - pending[of].current);
  };
  deal_out(std::min(peak - current(), active_peak - active()), small, {most(false), most(true)});
}

void PooledStat::deal_out(std::int64_t room, bool asks, const std::array<std::int64_t, 2>& peaks) {
  const auto give = [&](bool small, std::int64_t most) {
    const std::int64_t now = of_pool[small].current();
    const std::int64_t given = std::min(peaks[small] - now, most);
    of_pool[small].may_reach(now + given);
    return given;
  };
  const std::int64_t given = give(asks, room - room / 2);
  give(!asks, room - given);
}

Counters memory_stats(const Statistics& s, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools) {
  Counters counters;
  flatten_active(counters, "active", s.blocks);
  flatten_active(counters, "active_bytes", s.bytes);
  flatten(counters, "allocated_bytes", s.bytes);
  flatten(counters, "allocation", s.blocks);
  flatten(counters, "inactive_split", s.inactive_split);
  flatten(counters, "inactive_split_bytes", s.inactive_split_bytes);
  flatten(counters, "requested_bytes", s.requested_bytes);
  flatten(counters, "reserved_bytes", s.reserved_bytes);
  flatten(counters, "segment", s.segment);
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
  std::ranges::sort(counters);
  if (release.has(13)) insert_pools(counters, s.reserved_by_pool, pools);
  return counters;
}

}  // namespace memreplay::torch
