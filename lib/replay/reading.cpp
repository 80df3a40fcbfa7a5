#include "replay/reading.hpp"

#include <algorithm>

namespace memreplay {
namespace {

bool is_request(Op op) { return op == Op::allocate || op == Op::oom; }

// How many requests later the blocks of a stream completed that no synchronisation completed;
// nothing for a stream without such blocks.
std::optional<std::uint64_t> usual_gap(const Trace& trace, const std::vector<Deferral>& deferrals,
                                       StreamIndex stream) {
  std::vector<std::uint64_t> requested_at(trace.slot_count);
  std::vector<std::uint64_t> gaps;
  std::uint64_t requests = 0;
  auto forced = deferrals.begin();
  for (std::size_t i = 0; i < trace.size(); ++i) {
    requests += is_request(trace.ops[i]);
    while (forced != deferrals.end() && forced->event < i) ++forced;
    if (trace.ops[i] == Op::free_requested) requested_at[trace.slots[i]] = requests;
    if (trace.ops[i] != Op::free_completed || trace.lane(i).stream != stream) continue;
    if (forced != deferrals.end() && forced->event == i) continue;
    const bool at_once =
        i > 0 && trace.ops[i - 1] == Op::free_requested && trace.slots[i - 1] == trace.slots[i];
    if (!at_once) gaps.push_back(requests - requested_at[trace.slots[i]]);
  }
  if (gaps.empty()) return std::nullopt;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

// The event of the request that is `requests` requests behind the last one before `event`.
std::uint64_t request_after(const Trace& trace, std::size_t event, std::uint64_t requests) {
  for (std::size_t i = event; i < trace.size(); ++i) {
    if (is_request(trace.ops[i]) && requests-- == 0) return i;
  }
  return UINT64_MAX;
}

// The first requests of every run of requests from one private pool.
std::vector<std::uint64_t> beginnings(const Trace& trace, PoolIndex pool) {
  std::vector<std::uint64_t> found;
  PoolIndex last = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (!is_request(trace.ops[i])) continue;
    const PoolIndex now = trace.lane(i).pool;
    if (now == pool && last != pool) found.push_back(i);
    last = now;
  }
  return found;
}

// No request of the default pool comes from a stream of this one.
bool has_streams_of_its_own(const Trace& trace, PoolIndex pool) {
  return std::ranges::none_of(trace.lanes, [&](const Lane& lane) {
    return lane.pool == 0 && std::ranges::any_of(trace.lanes, [&](const Lane& own) {
             return own.pool == pool && own.stream == lane.stream;
           });
  });
}

bool follows_empty_cache(const Trace& trace, const Reading& reading, std::uint64_t request) {
  return std::ranges::any_of(reading.calls, [&](const ProgramCall& call) {
    if (call.kind != ProgramCall::Kind::empty_cache || call.event > request) return false;
    for (std::uint64_t i = call.event; i < request; ++i) {
      if (is_request(trace.ops[i])) return false;
    }
    return true;
  });
}

}  // namespace

std::vector<PoolOptions> recorded_pools(const Trace& trace) {
  std::vector<PoolOptions> options(trace.pools.size());
  for (PoolIndex pool = 1; pool < options.size(); ++pool) {
    // PyTorch names the pool of a capture {n, 0} where the program did not name one.
    options[pool].of_a_graph = trace.pools[pool].first != 0 || has_streams_of_its_own(trace, pool);
  }
  return options;
}

std::vector<std::uint64_t> captures_without_empty_cache(const Trace& trace,
                                                        const Reading& reading) {
  std::vector<std::uint64_t> found;
  for (PoolIndex pool = 1; pool < reading.pool_options.size(); ++pool) {
    if (!reading.pool_options[pool].of_a_graph) continue;
    for (const std::uint64_t request : beginnings(trace, pool)) {
      if (!follows_empty_cache(trace, reading, request)) found.push_back(request);
    }
  }
  std::ranges::sort(found);
  return found;
}

void complete_deferrals(const Trace& trace, Reading& reading) {
  for (Deferral& deferral : reading.deferrals) {
    const auto gap = usual_gap(trace, reading.deferrals, trace.lane(deferral.event).stream);
    std::size_t requested = deferral.event;
    while (requested > 0 && !(trace.ops[requested] == Op::free_requested &&
                              trace.slots[requested] == trace.slots[deferral.event])) {
      --requested;
    }
    deferral.due =
        gap ? std::max<std::uint64_t>(request_after(trace, requested, *gap), deferral.event)
            : UINT64_MAX;
  }
}

}  // namespace memreplay
