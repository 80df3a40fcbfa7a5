#include "analysis/verdict/too_much.hpp"

#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"

namespace memreplay {

std::optional<RequestInRoom> too_much_in(const Trace& trace, std::optional<Bytes> room) {
  if (!room) return std::nullopt;
  RecordedLevels levels(trace);
  std::optional<RequestInRoom> found;
  for_each_block(trace, ColdColumns::of_requests, [&](std::uint64_t first, const auto& events) {
    for (std::uint64_t i = 0; i < events.ops.size() && !found; ++i) {
      const RequestInRoom request{first + i, levels.requested(), events.sizes[i], *room};
      levels.play(first + i, events.ops[i], events.sizes[i]);
      if (is_request(events.ops[i]) && !request.fits()) found = request;
    }
    return !found;
  });
  return found;
}

std::optional<StateBeyondDevice> state_beyond(const Trace& trace, std::optional<Bytes> room,
                                              StartMode start) {
  const Coverage& coverage = trace.coverage;
  if (start == StartMode::cold || !room || coverage.preexisting_bytes <= *room) return std::nullopt;
  return StateBeyondDevice{coverage.preexisting_bytes, *room, coverage.preexisting_blocks};
}

}  // namespace memreplay
