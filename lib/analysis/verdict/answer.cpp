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

OomVerdict verdict_on(Cause by_sizes, const AfterRefusal& after) {
  const bool helpless = after.too_much || after.none_serves;
  if (by_sizes == Cause::fragmentation && helpless) return {Cause::shortage, true};
  return {by_sizes, false};
}

}  // namespace memreplay
