#include "analysis/verdict/answer.hpp"

namespace memreplay {

std::string_view name_of(Cause cause) {
  constexpr std::string_view kNames[] = {"none",    "shortage",      "fragmentation",
                                         "outside", "address-space", "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

Cause Refusal::cause_by_sizes() const {
  const Bytes wanted = live + requested;
  if (wanted > room) return total && wanted <= *total ? Cause::outside : Cause::shortage;
  return wanted > allowance ? Cause::outside : Cause::fragmentation;
}

Refusal refusal_in(Bytes live, Bytes requested, Bytes room, std::optional<Bytes> total) {
  Refusal refusal{.event = {},
                  .live = live,
                  .requested = requested,
                  .asked = requested,
                  .room = room,
                  .allowance = room,
                  .total = total};
  refusal.cause = refusal.cause_by_sizes();
  return refusal;
}

OomVerdict verdict_on(Cause by_sizes, const AfterRefusal& after) {
  if (by_sizes != Cause::fragmentation) return {by_sizes, false};
  if (after.too_much || after.none_serves) return {Cause::shortage, true};
  return {after.undecided ? Cause::unknown : Cause::fragmentation, false};
}

}  // namespace memreplay
