#include "questions/explain/phases.hpp"

#include <algorithm>
#include <string>

#include "program/live_blocks.hpp"

namespace memreplay {
namespace {

/// What the places hold, event by event.
class Holdings {
 public:
  Holdings(const Trace& trace, const Places& places)
      : trace_(trace), places_(places), live_(trace.slot_count), sums_(places.size()) {
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
        add(block.slot, places.of(asker_of(trace, block)), block.requested);
      }
    }
  }

  void play(std::uint64_t event) {
    const Op op = trace_.ops[event];
    if (op == Op::allocate) {
      add(trace_.slots[event], places_.of(asker_of(trace_, event)), trace_.sizes[event]);
    } else if (op == Op::free || op == Op::free_requested) {
      const Held& held = live_[trace_.slots[event]];
      sums_[held.place].bytes -= held.bytes;
      sums_[held.place].blocks -= held.blocks;
      live_[trace_.slots[event]] = {};
    }
  }
  /// The place that holds most, the first by name among equals; empty where nothing is held.
  PlaceSum most() const {
    PlaceSum most;
    for (std::uint32_t i = 0; i < sums_.size(); ++i) {
      const PlaceSum& sum = sums_[i];
      const bool more = sum.bytes > most.bytes;
      if (sum.blocks == 0 || sum.bytes < most.bytes) continue;
      if (!more && !most.place.empty() && most.place <= places_.name(i)) continue;
      most = {places_.name(i), sum.bytes, sum.blocks};
    }
    return most;
  }

 private:
  struct Held {
    std::uint32_t place = 0;
    Bytes bytes = 0;
    std::uint64_t blocks = 0;  ///< 0: the slot is empty
  };
  void add(Slot slot, std::uint32_t place, Bytes bytes) {
    live_[slot] = {place, bytes, 1};
    sums_[place].bytes += bytes;
    ++sums_[place].blocks;
  }

  const Trace& trace_;
  const Places& places_;
  std::vector<Held> live_;  ///< by slot
  std::vector<PlaceSum> sums_;
};

}  // namespace

std::vector<PhasePeak> phase_peaks(const std::vector<Phase>& phases, const Curves& curves) {
  std::vector<PhasePeak> peaks;
  for (const Phase& phase : phases) {
    auto peak = std::ranges::find(peaks, phase.name, &PhasePeak::name);
    if (peak == peaks.end()) {
      peak = peaks.insert(peaks.end(), {.name = phase.name, .depth = phase.depth});
    }
    ++peak->times;
    const std::uint64_t to = std::min<std::uint64_t>(phase.to, curves.requested.size());
    for (std::uint64_t event = phase.from; event < to; ++event) {
      peak->peak_reserved = std::max(peak->peak_reserved, curves.reserved[event]);
      if (curves.requested[event] <= peak->peak_requested) continue;
      peak->peak_requested = curves.requested[event];
      peak->peak_event = event;
    }
  }
  return peaks;
}

void note_uses(const Trace& trace, const Places& places, const MomentSource& source,
               const Curves& curves, std::vector<PhasePeak>& peaks) {
  std::vector<PhasePeak*> in_order;
  for (PhasePeak& peak : peaks) {
    // Behind the end of a replay that stopped nothing is known.
    if (peak.peak_event < curves.reserved.size()) in_order.push_back(&peak);
  }
  std::ranges::sort(in_order, {}, &PhasePeak::peak_event);
  std::vector<std::uint64_t> events;
  for (const PhasePeak* peak : in_order) events.push_back(peak->peak_event);
  const std::vector<Bytes> allocated = source.allocated_after(events);
  Holdings holdings(trace, places);
  std::uint64_t event = 0;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    PhasePeak& peak = *in_order[i];
    for (; event <= peak.peak_event; ++event) holdings.play(event);
    peak.use = {curves.reserved[peak.peak_event], allocated[i], holdings.most()};
  }
}

}  // namespace memreplay
