#include "trace/csv/csv_device.hpp"

#include <utility>
#include <vector>

namespace memreplay {

CsvDevice::CsvDevice(int gpu, CsvEvents fate) : builder(gpu), events(fate) {}

bool CsvDevice::allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                         std::uint32_t thread) {
  const auto [buffer, fresh] = buffers.emplace(id);
  if (!fresh && buffer->freed == kNotFreed) return false;
  const Slot slot = keeps_freed ? numbers : builder.take_slot();
  if (events == CsvEvents::kept) ++numbers;
  *buffer = {.size = size, .slot = slot, .thread = thread, .lane = lane};
  builder.add(Op::allocate, lane, slot, size, align_log2);
  return true;
}

void CsvDevice::keep_freed() {
  if (std::exchange(keeps_freed, true)) return;
  Trace& trace = builder.trace();
  std::vector<Slot> number_of(trace.slot_count);
  builder.forget_slots();
  numbers = 0;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    Slot& slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    Slot& number = number_of[slot];
    if (trace.ops[event] == Op::allocate) {
      number = numbers++;
      *buffers.emplace(trace.ids[event]).first = {
          .size = trace.sizes[event],
          .slot = number,
          .thread = trace.threads.empty() ? 0 : trace.threads[event],
          .lane = trace.lane_of[event]};
    } else {
      buffers.find(trace.ids[event])->freed = event;
    }
    slot = number;
  }
}

void CsvDevice::free(std::uint64_t id, std::uint16_t lane, CsvBuffer& block) {
  const Slot slot = block.slot;
  block.freed = builder.size();
  builder.add(Op::free, lane, slot, block.size);
  if (keeps_freed) return;
  buffers.erase(id);
  builder.return_slot(slot);
}

void CsvDevice::complete_free(std::uint16_t lane, CsvBuffer& block) {
  // Only now is it known that the free was not done at once.
  builder.op(block.freed) = Op::free_requested;
  block.completed = true;
  builder.add(Op::free_completed, lane, block.slot, block.size);
}

void CsvDevice::number_slots() {
  if (!keeps_freed) return;
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
