#include <algorithm>

#include "questions/explain/explain_report.hpp"
#include "questions/explain/growth.hpp"
#include "questions/explain/message_phrases.hpp"
#include "questions/explain/phrases.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string_view name_of(Explanation::Moment moment) {
  constexpr std::string_view kNames[] = {"oom", "peak", "reserved-peak", "event", "end"};
  return kNames[static_cast<std::size_t>(moment)];
}

template <typename T>
std::optional<T> element(const std::vector<T>& values, std::size_t at) {
  return at < values.size() ? std::optional(values[at]) : std::nullopt;
}

/// The figures of a moment; of a text those that its worst message states, the others unset.
class Figures {
 public:
  explicit Figures(const ExplainedDevice& device)
      : said_(device.messages.empty() ? nullptr : &device.messages.front()) {}

  template <typename T>
  std::optional<T> seen(const T& value) const {
    return only_if(said_ == nullptr, value);
  }
  template <typename T>
  std::optional<T> seen(const std::optional<T>& value) const {
    return said_ == nullptr ? value : std::nullopt;
  }
  std::optional<Bytes> operator()(std::optional<Bytes> seen, Figure said) const {
    if (said_ == nullptr) return seen;
    return bytes_of(said_->message[said]);
  }
  std::optional<std::uint64_t> operator()(std::uint64_t seen, Count said) const {
    return said_ == nullptr ? seen : said_->message[said];
  }
  std::optional<Bytes> usable(const Explanation& e) const {
    if (said_ == nullptr) return e.room;
    const OomMessage& m = said_->message;
    const auto usable = sum_of(m[Figure::device_free], m[Figure::reserved]);
    return bytes_of(usable ? usable : m[Figure::limit]);
  }
  std::optional<std::int64_t> spare(const Explanation& e) const {
    if (said_ != nullptr) return said_->room;
    return e.room ? std::optional(e.spare()) : std::nullopt;
  }
  const ExplainedMessage* said() const { return said_; }

 private:
  static std::optional<Bytes> bytes_of(const std::optional<RoundedBytes>& size) {
    return size ? std::optional(size->bytes) : std::nullopt;
  }

  const ExplainedMessage* said_;
};

void request_fields(JsonFields& f, const ExplainedDevice& device, const Figures& figure) {
  const Explanation& e = device.explanation;
  f("at_oom", e.at_oom, "the event is a refused request");
  f("step", only_if(e.step > 0, e.step), "the program's, from 1; null: unknown");
  f("stream", figure.seen(element(device.streams, e.stream)), "the request's");
  f("place", unless_empty(e.place), "the call site of the request");
  f("requested_bytes", figure(e.requested, Figure::requested), "by the program; 0: no request");
  f("asked_of_device_bytes", figure(e.asked, Figure::requested), "by the allocator, for it");
  f("device_bytes", figure(e.total, Figure::device), "total of the device; null: unknown");
  usable_fields(f, figure.usable(e),
                figure.said() == nullptr ? aside_of(device.device) : std::nullopt);
  f("spare_bytes", figure.spare(e), "usable less live and requested; negative: missing");
  f("device_free_bytes", figure(only_if(e.at_oom, e.device_free), Figure::device_free),
    "outside reserved memory; null without an OOM");
  f("oom_retries", figure(e.retries, Count::retries),
    "requests for which memory was released first");
}

void peaks_fields(JsonFields& f, const Explanation& e, const Figures& figure) {
  const auto begin = [&](JsonFields& peak, const Peak& of) {
    peak("event", figure.seen(of.event), "right after it; null: before the first, or unknown");
    peak("live_requested_bytes", figure.seen(of.requested), "by live blocks");
  };
  f("live_peak", Part{[&](JsonFields& peak) {
      begin(peak, e.live_peak);
      if (peak.sometimes(figure.said() != nullptr)) {
        peak("live_allocated_bytes", figure(0, Figure::live_peak), "as a text states it");
      }
      peak("reserved_bytes", figure.seen(e.live_peak.reserved), "held from the device");
    }},
    "the first moment with most live");
  f("reserved_peak", Part{[&](JsonFields& peak) {
      begin(peak, e.reserved_peak);
      peak("reserved_bytes", figure(e.reserved_peak.reserved, Figure::reserved_peak),
           "held from the device");
    }},
    "the first moment with most live, among those with most reserved");
  f("gap_bytes", only_if(e.moment == Explanation::Moment::peak, e.gap()),
    "most reserved beyond what is allocated at the live peak; null: another moment");
}

void memory_fields(JsonFields& f, const Explanation& e, const Figures& figure) {
  f("live_requested_bytes", figure(e.live_requested, Figure::live_requested), "by live blocks");
  f("live_allocated_bytes", figure(e.live_allocated, Figure::live), "live blocks, after rounding");
  f("live_blocks", figure(e.live_blocks, Count::live_blocks), "how many");
  f("pending_bytes", figure(e.pending, Figure::pending), "freed, but another stream may use it");
  f("reserved_bytes", figure(e.reserved, Figure::reserved), "held from the device");
  f("segments", figure(e.segments, Count::segments), "regions that the device gave");
  f("free_inside_bytes", figure(e.free_inside, Figure::free_inside), "free in reserved memory");
  f("largest_free_bytes", figure(e.largest_free, Figure::largest_free), "in one piece");
  f("pinned_bytes", figure.seen(e.pins.pinned), "free beside live blocks: not to be returned");
  f("returnable_bytes", figure.seen(e.pins.returnable), "free, which could be returned");
  f("kept_whole_bytes", figure.seen(e.kept_whole),
    "free blocks of max_split_size or more: not for smaller requests");
  f("unplaced_blocks", figure.seen(e.unplaced), "live blocks in no known segment");
  f("address_space", e.addresses, "of expandable segments; null: there are none");
}

void pool_fields(JsonFields& f, const ExplainedDevice& device, const PoolRow& row) {
  f("pool", unless_empty(element(device.pool_names, row.pool).value_or("")),
    "its name; null: the default");
  f("small", row.small_pool, "for small requests");
  f("stream", element(device.streams, row.stream).value_or(0), "its handle");
  f("segments", row.segments, "regions that the device gave");
  f("reserved_bytes", row.reserved, "held from the device");
  f("allocated_bytes", row.allocated, "live blocks, after rounding");
  f("pending_bytes", row.pending, "freed, but another stream may use it");
  f("free_bytes", row.free, "free in reserved memory");
  f("largest_free_bytes", row.largest_free, "in one piece");
}

}  // namespace

void fields(JsonFields& f, const AddressUse& use) {
  f("reservations", use.reservations, "at least");
  f("streams", use.streams, "that have any");
  f("reserved_bytes", use.reserved, "addresses, mapped or not");
  f("needed_bytes", use.needed, "by the refused request, for one more");
  f("limit_bytes", use.limit, "size of the address space");
  f("device_is_known", !use.at_least, "false: the device may be larger, and so may these");
}

void fields(JsonFields& f, const Pin& pin) {
  f("place", pin.place, "the call site");
  f("pinned_bytes", pin.pinned, "free memory that it keeps from being returned");
  f("segments", pin.segments, "in how many segments");
  f("blocks", pin.blocks, "its live blocks in these");
  f("oldest_event", pin.oldest, "of its oldest block; null: from before the recording");
}

void fields(JsonFields& f, const UnfittedRequests& of) {
  f("place", of.place, "the call site");
  f("requests", of.requests, "for which more was reserved although as much was free inside");
  f("reserved_bytes", of.reserved, "for them, and still held at the reserved peak");
  f("largest_bytes", of.largest, "the largest of these requests");
  f("free_bytes", of.free, "the most that was free before one of them");
}

void fields(JsonFields& f, const SizeClassLoss& loss) {
  f("from_bytes", loss.from, "requests of this size and below twice it");
  f("blocks", loss.blocks, "live ones");
  f("requested_bytes", loss.requested, "by them");
  f("allocated_bytes", loss.allocated, "after rounding");
}

void fields(JsonFields& f, const PhasePeak& phase) {
  const PhaseUse use = phase.use.value_or(PhaseUse());
  const auto asked = [&](Bytes value) { return only_if(phase.use.has_value(), value); };
  f("name", phase.name, "the phase");
  f("depth", phase.depth, "phases around it");
  f("times", phase.times, "how often the phase ran");
  f("peak_requested_bytes", phase.peak_requested, "the highest of all its runs");
  f("peak_event", phase.peak_event, "at which most was requested");
  f("peak_reserved_bytes", phase.peak_reserved, "peak of the bytes held from the device");
  f("reserved_at_peak_bytes", asked(use.reserved), "at peak_event; null: not asked for");
  f("allocated_at_peak_bytes", asked(use.allocated), "at peak_event; null: not asked for");
  f("waste_bytes", asked(use.waste()), "reserved beyond what is allocated then");
  f("place", unless_empty(use.most.place), "the call site that holds most then");
  f("place_bytes", asked(use.most.bytes), "its bytes");
}

void fields(JsonFields& f, const Finding& finding) {
  f("what", finding.what, "a cause of waste, in words");
  f("bytes", finding.bytes, "its bytes");
  f("remedy", unless_empty(finding.remedy), "a setting, or what to change; null: none is known");
}

void fields(JsonFields& f, const ExplainedDevice& device) {
  const Explanation& e = device.explanation;
  const Figures figure(device);
  head_fields(f, "explain");
  f("trace", device.trace, "the recording");
  facts_fields(f, only_if(device.messages.empty(), device.trace.facts()));
  f("device", device.device, "on which the recording is replayed");
  f("verdict", name_of(e.cause), "why memory ran out: none, shortage, fragmentation, ...");
  f("cause", name_of(e.cause), "the same as verdict, as every answer names it");
  f("in_effect", e.in_effect, "a shortage although the request would fit by its size");
  f("state_beyond_device", device.state_beyond,
    "memory from before the recording exceeds the device");
  f("too_much", e.too_much, "the later request that makes it a shortage");
  f("event", e.event, "memory is shown right after it; null: before the first");
  f("moment", name_of(e.moment), "oom, peak, reserved-peak, event or end");
  f("sentence", verdict_sentence(device), "what the text says");
  f("strategy", unless_empty(device.strategy), "whose memory; null: as recorded");
  request_fields(f, device, figure);
  peaks_fields(f, e, figure);
  memory_fields(f, e, figure);
  f("pins", e.pins.by_place, "call sites that keep memory from being returned, the oldest first");
  f("live", e.live, "call sites that hold live memory, most bytes first");
  f("by", name_of(e.by), "what counts as a place: place, function, file, module or unfolded");
  f("tree", e.tree, "live memory by its outermost callers; null: not asked for");
  f("rounding", e.rounding, "memory lost by rounding, most first");
  const auto pool = [&](JsonFields& pools, const PoolRow& row) { pool_fields(pools, device, row); };
  f("pools", each(e.pools, pool), "by pool, stream and size");
  f("unfitted", e.unfitted,
    "requests that fitted no hole, where nothing failed and far more is reserved than live");
  f("phases", e.phases, "peaks of the phases");
  f("growth", device.growth,
    "what stays after each step; null: not asked for, and no call site grows");
  f("findings", findings(device), "causes of waste, most bytes first");
  f("advice", unless_empty(advice(device)), "what a search for a better setting found");
  f("remarks", device.remarks, "notes that belong to the answer");
  const ExplainedMessage none;
  const ExplainedMessage& worst = figure.said() != nullptr ? *figure.said() : none;
  const auto message = [&](JsonFields& of) { worst_message_fields(of, worst); };
  const bool is_text = figure.said() != nullptr;
  if (f.sometimes(is_text)) f("message", Part{message}, "the worst message of a text");
  if (f.sometimes(is_text)) f("messages", device.messages, "all of them, the worst first");
  model_check_field(f, device.model_check);
}

std::string to_json(const ExplainAnswer& answer) {
  const auto fails = [](const ExplainedDevice& device) { return device.explanation.at_oom; };
  const auto worst = std::ranges::find_if(answer.devices, fails);
  return dump_each(
      "explain", answer.devices,
      worst == answer.devices.end() ? Json(nullptr) : Json(worst - answer.devices.begin()));
}

}  // namespace memreplay
