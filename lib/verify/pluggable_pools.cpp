#include "verify/pluggable_pools.hpp"

#include <algorithm>
#include <map>

namespace memreplay {
namespace {

/// Segments of one pool, but for mapped runs.
struct PoolSegments {
  std::vector<Address> addresses;
  Bytes now = 0;
  Bytes most = 0;
  bool expandable = false;

  void add(Address address, Bytes size) {
    addresses.push_back(address);
    now += size;
    most = std::max(most, now);
  }
};

std::map<PoolIndex, PoolSegments> segments_by_pool(const Trace& trace) {
  std::map<PoolIndex, PoolSegments> pools;
  for (const SegmentInfo& segment : trace.start.segments) {
    PoolSegments& pool = pools[segment.pool];
    pool.expandable |= segment.expandable;
    if (!segment.expandable) pool.add(segment.address, segment.size);
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Op op = trace.ops[i];
    if (!is_driver_event(op)) continue;
    PoolSegments& pool = pools[trace.lane(i).pool];
    pool.expandable |= op == Op::segment_map;
    if (op == Op::segment_alloc) pool.add(trace.addresses[i], trace.sizes[i]);
    if (op == Op::segment_free) pool.now -= std::min(pool.now, trace.sizes[i]);
  }
  return pools;
}

/// `sorted` holds one address or more.
bool lies_apart(Address address, const std::vector<Address>& sorted) {
  const auto above = std::ranges::lower_bound(sorted, address);
  if (above != sorted.end() && *above - address < kTiB) return false;
  return above == sorted.begin() || address - *std::prev(above) >= kTiB;
}

/// Markers tell when pools sleep.
bool says_what_sleeps(const Trace& trace, const std::vector<std::string>& texts) {
  if (trace.tags.empty()) return false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.ops[i] == Op::marker && texts[trace.tags[i]] == "sleep") return true;
  }
  return false;
}

}  // namespace

std::vector<PluggablePool> pluggable_pools(const Trace& trace,
                                           const std::vector<std::string>& texts) {
  if (trace.pools.size() < 2 || trace.streamed || trace.addresses.empty()) return {};
  std::map<PoolIndex, PoolSegments> pools = segments_by_pool(trace);
  std::vector<Address>& usual = pools[0].addresses;
  if (usual.empty() || says_what_sleeps(trace, texts)) return {};
  std::ranges::sort(usual);
  std::vector<PluggablePool> found;
  for (const auto& [pool, segments] : pools) {
    const auto apart = [&](Address address) { return lies_apart(address, usual); };
    if (pool == 0 || segments.expandable || segments.addresses.empty()) continue;
    if (!std::ranges::all_of(segments.addresses, apart)) continue;
    found.push_back({pool, trace.pools[pool], segments.most});
  }
  return found;
}

}  // namespace memreplay
