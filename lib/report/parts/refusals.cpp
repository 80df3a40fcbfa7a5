#include "report/parts/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

/// The size that PyTorch's message names, unless its rounding alone was too much.
Bytes named_size(const Refusal& r) {
  return r.live + r.asked <= r.allowance ? r.asked : r.requested;
}

// "would have fitted, with 46.8 MiB to spare"
std::string would_have_fitted(const Refusal& r) {
  return fmt::format("would have fitted, with {} to spare",
                     human_size(r.allowance - r.live - named_size(r)));
}

std::string outside(const Refusal& r) {
  const std::string request = human_size(r.asked);
  if (r.live + r.requested <= r.room) {
    return fmt::format(
        "Outside: a memory limit of {} refused the {} request; the device had {} free.",
        human_size(r.allowance), request, human_size(r.device_free));
  }
  return fmt::format(
      "Outside: the {} request would have fitted, did others not hold {} of the device.", request,
      human_size(r.total.value_or(r.room) - r.room));
}

std::string helpless(const Refusal& r, const WhatFollowed& after) {
  return fmt::format("Shortage in effect: the {} request at event {} {}, but {}.",
                     human_size(named_size(r)), human_count(*r.event), would_have_fitted(r),
                     after.too_much ? too_much_phrase(*after.too_much) + "; no setting helps"
                                    : fmt::format("none of {} tried serves every request",
                                                  counted(after.tried, "setting")));
}

std::string undecided(const Refusal& r) {
  return fmt::format(
      "Undecided: the {} request {}; the search for a setting that serves every request was cut "
      "short.",
      human_size(named_size(r)), would_have_fitted(r));
}

std::string fragmented(const Refusal& r) {
  const Bytes size = named_size(r);
  return fmt::format(
      "Fragmentation: the {} request {}{}.", human_size(size), would_have_fitted(r),
      size == r.asked ? "" : "; for it the allocator asked the device for " + human_size(r.asked));
}

}  // namespace

std::string refusal_sentence(const Refusal& refusal, const OomVerdict& verdict,
                             const WhatFollowed& after) {
  if (verdict.in_effect) return helpless(refusal, after);
  if (verdict.cause == Cause::outside) return outside(refusal);
  if (verdict.cause == Cause::unknown) return undecided(refusal);
  if (verdict.cause != Cause::shortage) return fragmented(refusal);
  const Bytes wanted = refusal.live + refusal.asked;
  return fmt::format(
      "Shortage: what is live and the {} request together exceed the device by {}; no allocator "
      "setting will help.",
      human_size(refusal.asked), human_size(wanted - std::min(wanted, refusal.room)));
}

std::string start_refused_sentence(const OomVerdict& verdict, const std::string& strategy) {
  const std::string_view cause = verdict.cause != Cause::shortage ? "Fragmentation"
                                 : verdict.in_effect              ? "Shortage in effect"
                                                                  : "Shortage";
  return fmt::format("{}: not all that was there before the recording finds room{}{}.", cause,
                     strategy.empty() ? "" : " under ", strategy);
}

std::string state_sentence(const std::optional<StateBeyondDevice>& state) {
  if (!state) return {};
  return fmt::format(
      "Shortage: the state itself needs {}: {} from before the recording, {} more than the device "
      "has.",
      human_size(state->needed), counted(state->blocks, "block"),
      human_size(state->needed - state->room));
}

std::string too_much_phrase(const RequestInRoom& request) {
  return fmt::format("at event {} {} are live and {} more are asked for, and the device has {}",
                     human_count(request.event), human_size(request.live),
                     human_size(request.requested), human_size(request.room));
}

}  // namespace memreplay
