#include "trace/pointer_log.hpp"

#include <utility>

#include "core/error.hpp"

namespace memreplay {

AddressTable<PointerLog::Block>& PointerLog::live(std::uint64_t heap) {
  if (heap >= live_.size()) live_.resize(heap + 1);
  return live_[heap];
}

void PointerLog::leave_out(const std::string& reason, std::uint64_t events) {
  if (events > 0) trace().coverage.dropped[reason] += events;
}

void PointerLog::add(Op op, PointerPlace place, Address address, const Block& block) {
  builder_.add(op, builder_.lane(place.stream, {0, place.heap}), block.slot, block.size);
  trace().ids.push_back(address);
}

void PointerLog::allocate(PointerPlace place, Address address, Bytes size) {
  if (address == 0) return leave_out("allocations that failed");
  if (size == 0) {
    ++live(place.heap).emplace(address).first->empty;
    return leave_out("allocations of size 0");
  }
  Block* block = live(place.heap).emplace(address).first;
  if (block->slot != kNoSlot) {
    free(place, address);
    ++trace().coverage.synthesised["frees that the log lacks"];
    is_gapless_ = false;
    block = live(place.heap).emplace(address).first;
  }
  block->slot = builder_.take_slot();
  block->size = size;
  add(Op::allocate, place, address, *block);
}

void PointerLog::free(PointerPlace place, Address address) {
  if (address == 0) return leave_out("frees of null");
  Block* const block = live(place.heap).find(address);
  if (block == nullptr) {
    return lacks("frees of blocks that the log does not allocate");
  }
  if (block->slot == kNoSlot) {
    --block->empty;
    leave_out("frees of blocks of size 0");
  } else {
    add(Op::free, place, address, *block);
    builder_.return_slot(std::exchange(block->slot, kNoSlot));
  }
  if (block->empty == 0) live(place.heap).erase(address);
}

void PointerLog::reallocate(PointerPlace place, Address from, Address to, Bytes size) {
  if (from != 0) free(place, from);
  allocate(place, to, size);
}

void PointerLog::hand_on() {
  if (trace().ops.empty()) return;
  if (!gate_) gate_.emplace(trace());
  if (const auto fault = gate_->fault_in(trace())) {
    throw InputError(path_, fault->place, fault->what);
  }
  if (sink_ == nullptr) sink_ = &begin_();
  sink_->add(0, trace());
  for_each_column([&](auto column) { (trace().*column).clear(); });
}

bool PointerLog::finish(Recording& recording) {
  if (begin_) hand_on();
  const bool any = sink_ != nullptr;
  if (begin_ && !any) return false;
  trace().coverage.complete = trace().coverage.gapless = is_gapless_;
  recording.traces.push_back(builder_.finish());
  if (any) {
    check_recording(recording);
    sink_->finish(recording);
  }
  return true;
}

Recording recording_of_log(const Input& input, std::string format, std::string detail) {
  Recording recording;
  recording.path = input.name;
  recording.format = std::move(format);
  recording.detail = std::move(detail);
  recording.texts = {""};
  recording.stacks = {{}};
  return recording;
}

}  // namespace memreplay
