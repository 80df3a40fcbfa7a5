#include "questions/explain/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "questions/explain/message_phrases.hpp"
#include "questions/settings/phrases.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"

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
    return fmt::format("; peak reserved is {}, a gap of {}", human_size(e.reserved_peak.reserved),
                       human_size(e.gap()));
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
      "Unknown: the recording has {} and no entry of an OOM. In its state {}, {} free inside "
      "segments.",
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
      "another expandable segment, and {} of {} already take {} of {}.",
      request, use.at_least ? "at least " : "", human_size(*use.needed),
      counted(use.reservations, "segment"), counted(use.streams, "stream"),
      human_size(use.reserved), human_size(use.limit));
}

std::string refused(const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  if (e.cause == Cause::address_space) return no_addresses(e);
  if (e.cause == Cause::unknown) {
    return fmt::format(
        "Unknown: the {} request was refused with {} live, and the recording does not say how "
        "large the device was.",
        human_size(e.requested), human_size(e.live_requested));
  }
  return refusal_sentence({e.refusal(), {e.cause, e.in_effect}, e.too_much});
}

bool has(const std::string& conf, std::string_view option) {
  return conf.find(option) != std::string::npos;
}

class Findings {
 public:
  explicit Findings(const ExplainedDevice& device) : device_(device), e_(device.explanation) {}

  std::vector<Finding> all() {
    // Where more is live than there is, no use of the rest makes up for it.
    if (e_.cause != Cause::shortage) {
      pinned();
      kept_whole();
      rounding();
    }
    // Before a request is refused, all that can be returned was.
    if (!e_.at_oom) returnable();
    unfitted();
    addresses();
    private_pools();
    pending();
    limit();
    others();
    std::ranges::stable_sort(found_, std::greater{}, &Finding::bytes);
    return std::move(found_);
  }

 private:
  void add(std::string what, Bytes bytes, std::string remedy) {
    if (bytes > 0) found_.push_back({std::move(what), bytes, std::move(remedy)});
  }

  // Whether a setting helps is for the search to say.
  void pinned() {
    if (e_.pins.by_place.empty()) return;
    const Pin& most = *std::ranges::max_element(e_.pins.by_place, {}, &Pin::pinned);
    add(fmt::format("{} free inside segments, kept from being returned by live blocks beside it",
                    human_size(e_.pins.pinned)),
        e_.pins.pinned, pin_remedy(most.place));
    if (e_.at_oom && e_.cause == Cause::fragmentation && e_.pins.pinned > 0) {
      found_.back().of_verdict = true;
    }
  }

  std::string pin_remedy(const std::string& place) const {
    if (place == kWaiting) return "synchronise, or free, where record_stream is called";
    const std::string shown_by = owner_shown_by(place);
    const bool refused = e_.at_oom && e_.cause == Cause::fragmentation;
    if (!refused) {
      return shown_by.empty()
                 ? fmt::format("free the blocks from {} earlier, or allocate them first", place)
                 : fmt::format("first {}, which shows whose blocks these are", shown_by);
    }
    const std::string whose = shown_by.empty() ? "the blocks from " + place : "these blocks";
    return fmt::format("free {} before the refused request, or make that request before them{}{}",
                       whose, shown_by.empty() ? "" : "; to see whose they are, ", shown_by);
  }

  /// How to record so that the owner of these blocks has a name; empty: it has one.
  std::string owner_shown_by(const std::string& place) const {
    if (place == kFromBefore) return "record from the program's start";
    if (place != kNoStack && place != kNoTag) return {};
    const bool others_have = std::ranges::any_of(e_.live, [](const auto& of) {
      return of.place != kNoStack && of.place != kNoTag && of.place != kFromBefore;
    });
    return others_have ? "record the stacks of C++ too (memreplay record --stacks all)"
                       : "record with stacks";
  }

  void unfitted() {
    if (e_.unfitted.empty()) return;
    Bytes all = 0;
    std::uint64_t requests = 0;
    for (const UnfittedRequests& of : e_.unfitted) {
      all += of.reserved;
      requests += of.requests;
    }
    const UnfittedRequests& most = e_.unfitted.front();
    const std::string from =
        e_.unfitted.size() == 1
            ? "up to "
            : fmt::format("most ({}) by {} of up to ", human_size(most.reserved),
                          counted(most.requests, "request"));
    add(fmt::format("{} of the reserved peak came from {} that fitted no hole, although enough was "
                    "free in all: {}{} from {}, beside up to {} free",
                    human_size(all), counted(requests, "request"), from, human_size(most.largest),
                    most.place, human_size(most.free)),
        all, "");
    found_.back().of_verdict = true;
  }

  void kept_whole() {
    add(fmt::format(
            "{} free in blocks of max_split_size_mb or more, which smaller requests cannot use",
            human_size(e_.kept_whole)),
        e_.kept_whole,
        has(device_.conf, "expandable_segments:True")
            ? "drop max_split_size_mb: with expandable_segments:True it only keeps memory from "
              "being used"
            : "set a larger max_split_size_mb, or none");
  }

  void private_pools() {
    Bytes free = 0;
    for (const PoolRow& row : e_.pools) {
      if (row.pool != 0 && row.pool != e_.pool) free += row.free;
    }
    add(fmt::format("{} free in private pools, which other requests cannot use", human_size(free)),
        free, "share one pool between the captures, or delete graphs and MemPools when done");
  }

  void pending() {
    add(fmt::format("{} freed, but waiting for another stream", human_size(e_.pending)), e_.pending,
        "synchronise or free where record_stream is called, so that the blocks come back sooner");
  }

  void rounding() {
    Bytes lost = 0;
    for (const SizeClassLoss& loss : e_.rounding) lost += loss.lost();
    if (lost == 0) return;
    const SizeClassLoss& most = e_.rounding.front();
    const bool rounds = has(device_.conf, "roundup_power2_divisions");
    add(fmt::format("{} lost by rounding, most of it ({}) in {} of {} to {}", human_size(lost),
                    human_size(most.lost()), counted(most.blocks, "block"), human_size(most.from),
                    human_size(2 * most.from)),
        lost, rounds ? "set more roundup_power2_divisions, or none" : "");
  }

  void returnable() {
    add(fmt::format("{} free in whole segments, which could be returned to the device",
                    human_size(e_.pins.returnable)),
        e_.pins.returnable, "call torch.cuda.empty_cache(); the next peak takes the memory again");
  }

  // Before they are exhausted, too: a driver refuses without a word of them.
  void addresses() {
    if (!e_.addresses) return;
    const AddressUse& use = *e_.addresses;
    const bool exhausted = e_.cause == Cause::address_space;
    if (!exhausted && use.reserved < use.limit / 2) return;
    const std::string remedy =
        use.too_short ? "set a larger expandable_segments_reserve, or none"
                      : "use fewer streams and pools, expandable_segments:False, or from PyTorch "
                        "2.15 on expandable_segments_reserve (0.25 is a quarter of the device)";
    add(fmt::format("{} of addresses{} reserved by expandable segments, 9/8 of the device by each "
                    "({} of {})",
                    human_size(use.reserved), use.at_least ? " or more" : "",
                    counted(use.reservations, "reservation"), counted(use.streams, "stream")),
        std::max(use.reserved, Bytes{1}), remedy);
  }

  void limit() {
    if (!e_.at_oom || e_.allowed >= e_.device_free) return;
    const bool torch = device_.strategy.empty() || !device_.conf.empty();
    add(fmt::format("{} free on the device, which the allocator's own limit or arena forbids",
                    human_size(e_.device_free - e_.allowed)),
        e_.device_free - e_.allowed,
        torch ? "raise per_process_memory_fraction (or set_per_process_memory_fraction), or remove "
                "it"
              : "give the allocator a larger arena or limit (memreplay list strategies shows its "
                "options)");
  }

  void others() {
    if (!e_.total || !e_.room || *e_.total <= *e_.room) return;
    add(fmt::format("{} of the device held by others (contexts, other processes, libraries)",
                    human_size(*e_.total - *e_.room)),
        *e_.total - *e_.room, "end other processes; nvidia-smi lists them");
  }

  const ExplainedDevice& device_;
  const Explanation& e_;
  std::vector<Finding> found_;
};

std::string setting_of_best(const TuneResult& tuned) {
  const std::string conf = tuned.conf(tuned.outcomes[tuned.best]);
  return conf.empty() ? "the default setting" : conf;
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
        "Unknown: by the estimate memory runs out before the recording begins{}, and requests from "
        "that time are not in it.",
        whose);
  }
  if (e.cause != Cause::none && !device.untold) {
    return start_refused_sentence({e.cause, e.in_effect}, device.strategy);
  }
  const bool at_peak = e.moment == Explanation::Moment::peak;
  // "event 468 5333 MiB" would read as one number.
  const bool ends_in_number = e.moment == Explanation::Moment::event && e.event && whose.empty();
  const std::string where =
      fmt::format("{}{}{} {}{}.", moment_phrase(e), whose, ends_in_number ? "," : "", figures(e),
                  at_peak ? gap(e) : "");
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

std::vector<Finding> findings(const ExplainedDevice& device) {
  // What would have helped a program that nobody saw ask for anything is not known.
  if (!device.messages.empty() || !device.explanation.shows_requests) return {};
  return Findings(device).all();
}

std::string advice(const ExplainedDevice& device, bool with_search) {
  if (!device.messages.empty()) return message_advice(device.messages.front());
  const Explanation& e = device.explanation;
  if (!device.tuned || e.cause == Cause::shortage ||
      (e.moment == Explanation::Moment::event && !e.at_oom))
    return {};
  const TuneResult& tuned = *device.tuned;
  const TuneOutcome& best_outcome = tuned.outcomes[tuned.best];
  const std::string more =
      device.trace.path == "-" || !with_search
          ? ""
          : " Try:\nmemreplay tune " + path_word(device.trace.path) + device.options;
  if (tuned.shortage) return fmt::format("No setting helps: {}.", too_much_phrase(*tuned.shortage));
  using Kind = LateVerdict::Kind;
  const Kind late = device.late.kind;
  if (late == Kind::undecided || late == Kind::interrupted) {
    return late_sentence(tuned, device.late) + more;
  }
  const std::string estimate = best_outcome.is_exact() ? "" : ", an estimate";
  const bool fails = e.at_oom || !tuned.baseline_outcome.serves();
  if (fails && best_outcome.serves()) {
    const bool early = device.trace.early_end.has_value();
    return fmt::format("{} serves every {}request (reserves {}{}{}).{}", setting_of_best(tuned),
                       early ? "recorded " : "", bounded(peak_phrase(best_outcome), early),
                       early ? "" : " at most", estimate, more);
  }
  if (fails) {
    return fmt::format("None of {} tried serves every request.{}{}",
                       counted(tuned.tried, "setting"), more, more.empty() ? "" : " --runs 5000");
  }
  if (!tuned.helps) return {};
  if (late == Kind::supported) {
    return fmt::format("Throughout, {}{}", late_sentence(tuned, device.late), more);
  }
  return fmt::format("Throughout, {}{}{}", gain_sentence(tuned),
                     best_outcome.is_exact() ? "" : " It is an estimate.", more);
}

}  // namespace memreplay
