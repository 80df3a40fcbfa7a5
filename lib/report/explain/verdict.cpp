#include <fmt/format.h>

#include "core/text.hpp"
#include "report/explain/message_phrases.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/refusals.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// "13.0 GiB of the 13.2 GiB reserved are live"
std::string figures(const Explanation& e) {
  const std::string waiting =
      e.pending > 0 ? fmt::format(", {} wait for another stream", human_size(e.pending)) : "";
  return fmt::format("{} of the {} reserved are live{}", human_size(e.live_allocated),
                     human_size(e.reserved), waiting);
}

std::string gap(const Explanation& e) {
  if (e.reserved_peak.reserved > e.reserved) {
    return fmt::format("; {} are reserved at most, a gap of {}",
                       human_size(e.reserved_peak.reserved), human_size(e.gap()));
  }
  return fmt::format("; the gap is {}", human_size(e.gap()));
}

std::string moment_phrase(const Explanation& e) {
  switch (e.moment) {
    case Explanation::Moment::peak:
      return "the live peak";
    case Explanation::Moment::reserved_peak:
      return "the reserved peak";
    case Explanation::Moment::end:
      return "the end";
    default:
      return e.event ? fmt::format("event {}", human_count(*e.event)) : "the start";
  }
}

// The recording holds no request, so none that failed.
std::string untold(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  return fmt::format(
      "Unknown: the recording has {}, and no entry of an OOM. In the state that it holds {}, {} "
      "free inside segments.",
      device.trace.events == 0 ? "no history" : "no request in its history", figures(e),
      human_size(e.free_inside));
}

std::string no_addresses(const Explanation& e) {
  const AddressUse& use = *e.addresses;
  const std::string request = human_size(e.requested);
  if (use.too_short) {
    return fmt::format(
        "Address space: the {} request is larger than the {} of addresses that "
        "expandable_segments_reserve gives a segment; memory was free for it.",
        request, human_size(*use.needed));
  }
  return fmt::format(
      "Address space: memory was free for the {} request, but {}{} of addresses are needed for "
      "another expandable segment, and {} of {} take {} of the {} that there are.",
      request, use.at_least ? "at least " : "", human_size(*use.needed),
      counted(use.reservations, "segment"), counted(use.streams, "stream"),
      human_size(use.reserved), human_size(use.limit));
}

std::string refused(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  if (e.cause == Cause::address_space) return no_addresses(e);
  if (e.cause == Cause::unknown) {
    return fmt::format(
        "Unknown: the {} request was refused with {} live, and how large the device was is not in "
        "the recording.",
        human_size(e.requested), human_size(e.live_requested));
  }
  const std::uint64_t tried = device.tuned ? device.tuned->tried : 0;
  return refusal_sentence(e.refusal(), {e.cause, e.in_effect}, {e.too_much, tried});
}

}  // namespace

std::string verdict_sentence(const ExplainedDevice& device) {
  if (!device.messages.empty()) return message_sentence(device.messages.front());
  const Explanation& e = device.explanation;
  if (device.state_beyond) return state_sentence(device.state_beyond);
  if (e.at_oom) return refused(device);
  const std::string whose = device.strategy.empty() ? "" : " under " + device.strategy;
  if (!e.shows_requests) return untold(device);
  if (e.cause == Cause::unknown && !device.untold) {
    return fmt::format(
        "Unknown: by the estimate memory runs out before the recording begins{}, and what was "
        "asked for then is not in it.",
        whose);
  }
  if (e.cause != Cause::none && !device.untold) {
    return start_refused_sentence({e.cause, e.in_effect}, device.strategy);
  }
  const bool at_peak = e.moment == Explanation::Moment::peak;
  const std::string where =
      fmt::format("{}{} {}{}.", moment_phrase(e), whose, figures(e), at_peak ? gap(e) : "");
  if (device.untold) {
    return "Unknown: under throw_on_cudamalloc_oom:True a failure leaves no entry. At " + where;
  }
  if (!at_peak || e.fails) return "At " + where;
  if (e.retries == 0) return "No failure: at " + where;
  return fmt::format(
      "No failure, but the device was full {}: memory was released and the request tried again. At "
      "{}",
      counted(e.retries, "time"), where);
}

}  // namespace memreplay
