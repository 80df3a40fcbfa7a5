#include "trace/event_count.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

namespace memreplay {
namespace {

class Totals final : public StreamedEvents {
 public:
  explicit Totals(const EventTotals& totals) : totals_(totals) {}

  const EventTotals& totals() const override { return totals_; }
  bool can_open() const override { return false; }
  std::unique_ptr<EventStream> open(ColdColumns) const override {
    throw std::logic_error("events that were counted, not kept");
  }

 private:
  EventTotals totals_;
};

}  // namespace

void EventCount::add(const EventColumns& events) {
  EventTotals totals = totals_;
  Bytes requested = requested_;
  bool only_usual = true;
  for (std::size_t i = 0; i < events.ops.size(); ++i) {
    const Op op = events.ops[i];
    const bool frees = op == Op::free || op == Op::free_requested;
    totals.allocs += op == Op::allocate;
    totals.frees += frees;
    only_usual &= op < Op::oom;
    // Whether an event allocates or frees cannot be foreseen: no branch for it.
    const auto if_so = [size = events.sizes[i]](bool is) { return size & (0 - Bytes{is}); };
    requested += if_so(op == Op::allocate);
    requested -= std::min(requested, if_so(frees));
    if (requested > totals.peak_requested) {
      totals.peak_requested = requested;
      totals.peak_event = totals.events + i;
    }
  }
  if (!only_usual) {
    totals.ooms += static_cast<std::uint64_t>(std::ranges::count(events.ops, Op::oom));
    totals.program_alone = false;  // the others are of the driver
  }
  totals.events += events.ops.size();
  requested_ = requested;
  totals.requests_say_more |= !events.threads.empty() || !events.tags.empty() ||
                              !events.freed_before.empty() || !events.upper_end.empty();
  if (!events.times_us.empty()) {
    const auto [first, last] = std::ranges::minmax(events.times_us);
    if (!totals.times_us) totals.times_us.emplace(first, last);
    totals.times_us->first = std::min(totals.times_us->first, first);
    totals.times_us->second = std::max(totals.times_us->second, last);
  }
  totals_ = totals;
}

void CountedEvents::add(std::size_t trace, const EventColumns& events) {
  if (counts_.size() <= trace) counts_.resize(trace + 1);
  counts_[trace].add(events);
}

void CountedEvents::hand_over(Recording& recording) const {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    recording.traces[i].streamed = std::make_shared<const Totals>(counts_[i].totals());
  }
}

}  // namespace memreplay
