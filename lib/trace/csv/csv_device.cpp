#include "trace/csv/csv_device.hpp"

#include <utility>
#include <vector>

namespace memreplay {

CsvDevice::CsvDevice(int gpu, CsvEvents fate) : builder(gpu), events(fate) {}

void CsvDevice::allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                         std::uint32_t thread) {
  CsvBuffer& buffer = *buffers.emplace(id).first;
  if (events == CsvEvents::kept) {
    buffer = {builder.trace().size()};
    builder.add(Op::allocate, lane, numbers++, size, align_log2);
    return;
  }
  const Slot slot = builder.take_slot();
  if (slot == live.slots.size()) {
    live.slots.push_back(slot);
    live.lane_of.emplace_back();
    live.sizes.emplace_back();
    live.threads.emplace_back();
  }
  live.lane_of[slot] = lane;
  live.sizes[slot] = size;
  live.threads[slot] = thread;
  buffer = {slot};
  builder.add(Op::allocate, lane, slot, size, align_log2);
}

void CsvDevice::keep_freed() {
  if (std::exchange(keeps_freed, true)) return;
  const Trace& trace = builder.trace();
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    if (op == Op::allocate) *buffers.emplace(trace.ids[event]).first = {event};
    if (op == Op::free) buffers.find(trace.ids[event])->freed = event;
  }
}

void CsvDevice::forget(std::uint64_t id, Slot slot) {
  buffers.erase(id);
  if (events == CsvEvents::handed_on) builder.return_slot(slot);
}

void CsvDevice::number_slots() {
  std::vector<Slot> slot_of(numbers, kNoSlot);
  Trace& trace = builder.trace();
  for (std::size_t event = 0; event < trace.size(); ++event) {
    Slot& slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    Slot& own = slot_of[slot];
    if (trace.ops[event] == Op::allocate) own = builder.take_slot();
    slot = own;
    const Op op = trace.ops[event];
    if (op == Op::free || op == Op::free_completed) builder.return_slot(own);
  }
}

}  // namespace memreplay
