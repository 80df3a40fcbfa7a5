#include "analysis/tune/shortage.hpp"

#include "trace/event_blocks.hpp"
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
  std::optional<Shortage> found;
  for_each_block(trace, ColdColumns::of_requests, [&](std::uint64_t first, const auto& events) {
    for (std::uint64_t i = 0; i < events.ops.size() && first + i < to && !found; ++i) {
      const Bytes live = levels.requested();
      const Bytes size = events.sizes[i];
      levels.play(first + i, events.ops[i], size);
      if (is_request(events.ops[i]) && live + size > *room) {
        found = Shortage{first + i, live, size, *room};
      }
    }
    return !found && first + events.ops.size() < to;
  });
  return found;
}

}  // namespace memreplay
