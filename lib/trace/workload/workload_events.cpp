#include "trace/workload/workload_events.hpp"

#include <algorithm>

namespace memreplay {
namespace {

constexpr std::size_t kHandedOnAtOnce = 1 << 16;

}  // namespace

Slot WorkloadEvents::allocate(Bytes size, std::uint32_t tag) {
  Slot slot = static_cast<Slot>(sizes_.size());
  if (free_slots_.empty()) {
    sizes_.emplace_back();
    tags_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  sizes_[slot] = std::max<Bytes>(size, 1);
  tags_[slot] = tag;
  add(Op::allocate, slot, sizes_[slot], tag);
  return slot;
}

void WorkloadEvents::free(Slot slot) {
  free_slots_.push_back(slot);
  add(Op::free, slot, sizes_[slot], tags_[slot]);
}

Slot WorkloadEvents::finish() {
  if (!events_.ops.empty()) hand_on();
  return slots_;
}

void WorkloadEvents::add(Op op, Slot slot, Bytes size, std::uint32_t tag) {
  if (full()) return;
  --left_;
  if (slot != kNoSlot) slots_ = std::max(slots_, slot + 1);
  events_.ops.push_back(op);
  events_.slots.push_back(slot);
  events_.sizes.push_back(size);
  if (tagged_) events_.tags.push_back(tag);
  if (events_.ops.size() == kHandedOnAtOnce) hand_on();
}

void WorkloadEvents::hand_on() {
  events_.lane_of.resize(events_.ops.size());
  events_.align_log2.resize(events_.ops.size());
  take_(events_);
  events_ = {};
}

}  // namespace memreplay
