#include "trace/counted_events.hpp"

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
