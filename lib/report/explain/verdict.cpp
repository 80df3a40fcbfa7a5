#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/text.hpp"
#include "report/explain/phrases.hpp"

namespace memreplay {
namespace {

std::string size_of(std::int64_t bytes) {
  return human_size(static_cast<Bytes>(std::llabs(bytes)));
}

}  // namespace

std::string_view name_of(Cause cause) {
  constexpr std::string_view kNames[] = {"none", "shortage", "fragmentation", "outside"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string verdict_sentence(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const std::string request = human_size(e.asked);
  if (e.cause != Cause::none && !e.at_oom) {
    return fmt::format("{}: not all that was there before the recording finds room under {}.",
                       e.cause == Cause::shortage ? "Shortage" : "Fragmentation", device.strategy);
  }
  const Bytes wanted = e.live_requested + e.asked;
  switch (e.cause) {
    case Cause::shortage:
      return fmt::format(
          "Shortage: what is live and the {} request together exceed the device by {}; no "
          "allocator setting will help.",
          request, human_size(wanted - std::min(wanted, *e.room)));
    case Cause::fragmentation:
      if (e.spare() < 0) {
        return fmt::format(
            "Fragmentation: the {} request would have fitted, with {} to spare; for it the "
            "allocator asked the device for {}.",
            human_size(e.requested),
            size_of(e.spare() + static_cast<std::int64_t>(e.asked - e.requested)), request);
      }
      return fmt::format("Fragmentation: the {} request would have fitted, with {} to spare.",
                         request, size_of(e.spare()));
    case Cause::outside:
      if (e.live_requested + e.requested <= *e.room) {
        return fmt::format(
            "Outside: a memory limit of {} refused the {} request; the device had {} free.",
            human_size(*e.allowance()), request, human_size(e.device_free));
      }
      return fmt::format(
          "Outside: the {} request would have fitted, did others not hold {} of the device.",
          request, human_size(*e.total - *e.room));
    case Cause::none:
      break;
  }
  const Bytes unused = e.reserved - std::min(e.reserved, e.live_allocated + e.pending);
  const std::string figures =
      fmt::format("{} reserved, {} of it live, {} free inside segments.", human_size(e.reserved),
                  human_size(e.live_allocated), human_size(unused));
  const std::string whose = device.strategy.empty() ? "" : " under " + device.strategy;
  if (e.chosen) return fmt::format("Before event {}{}: {}", human_count(e.event), whose, figures);
  return fmt::format("No failure: at the peak{} {}", whose, figures);
}

}  // namespace memreplay
