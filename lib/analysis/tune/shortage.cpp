#include "analysis/tune/shortage.hpp"

#include <algorithm>

#include "trace/recorded_levels.hpp"

namespace memreplay {

std::optional<Shortage> shortage_of(const Run& run, const Trace& trace, std::uint64_t to,
                                    std::optional<Bytes> room) {
  if (!room) return std::nullopt;
  const std::optional<OomPlace>& oom = run.metrics.first_oom;
  if (oom && oom->live + oom->requested > *room) {
    return Shortage{oom->event, oom->live, oom->requested, *room};
  }
  RecordedLevels levels(trace);
  to = std::min<std::uint64_t>(to, trace.size());
  for (std::uint64_t i = 0; i < to; ++i) {
    const Bytes live = levels.requested();
    levels.play(i);
    if (!is_request(trace.ops[i]) || live + trace.sizes[i] <= *room) continue;
    return Shortage{i, live, trace.sizes[i], *room};
  }
  return std::nullopt;
}

}  // namespace memreplay
