#include "program/verdict.hpp"

#include <algorithm>

#include "program/too_much.hpp"
#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"

namespace memreplay {

std::string_view name_of(Cause cause) {
  constexpr std::string_view kNames[] = {"none",    "shortage",      "fragmentation", "limit",
                                         "outside", "address-space", "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

Cause Refusal::cause_by_sizes() const {
  const Bytes wanted = live + requested;
  if (wanted > room) return total && wanted <= *total ? Cause::outside : Cause::shortage;
  const bool limited = allowance < room && std::max(live, allocated) + requested > allowance;
  return limited ? Cause::limit : Cause::fragmentation;
}

OomVerdict verdict_on(Cause by_sizes, bool later_too_much) {
  const bool in_effect = by_sizes == Cause::fragmentation && later_too_much;
  return {in_effect ? Cause::shortage : by_sizes, in_effect};
}

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
