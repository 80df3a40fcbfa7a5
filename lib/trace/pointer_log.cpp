#include "trace/pointer_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

constexpr const char* kFromBefore = "allocations of blocks from before the log";
constexpr const char* kRestFromBefore =
    "one block for all that is live before the log and after it";

}  // namespace

void PointerLog::leave_out(const std::string& reason, std::uint64_t events) {
  trace().coverage.leave_out(reason, place_, events);
}

void PointerLog::begin_with(EarlierPointers earlier) {
  begins_with_ = std::move(earlier);
  if (!begins_with_ || begins_with_->empty()) return;
  for (const EarlierPointer& block : *begins_with_) {
    allocate(block.place, block.address, block.size);
    live(block.place.heap).find(block.address)->is_earlier = true;
  }
  trace().coverage.synthesised[kFromBefore] = begins_with_->size();
  is_unsure();
}

void PointerLog::begin_with_rest(Bytes live) {
  Bytes known = 0;
  std::uint64_t blocks = 0;
  for (const EarlierPointer& block : begins_with_.value_or(std::vector<EarlierPointer>())) {
    known += block.size;
    ++blocks;
  }
  Coverage& coverage = trace().coverage;
  if (live > known) {
    add(Op::allocate, {}, 0, builder_.take_slot(), live - known);
    ++blocks;
    coverage.synthesised[kRestFromBefore] = 1;
    is_unsure();
  }
  coverage.starts_empty = blocks == 0;
  coverage.preexisting_blocks = blocks;
  coverage.preexisting_bytes = std::max(live, known);
}

EarlierPointers PointerLog::earlier() const {
  if (!begins_with_) return found_.empty() ? EarlierPointers() : EarlierPointers(found_);
  if (noted_.empty()) return std::nullopt;
  EarlierPointers right = begins_with_;
  std::erase_if(*right, [&](const EarlierPointer& block) {
    return noted_.contains({block.place.heap, block.address});
  });
  return right;
}

void PointerLog::leave_out_empty(Op op) {
  leave_out(op == Op::free ? "frees of blocks of size 0" : "allocations of size 0");
}

void PointerLog::allocate(PointerPlace place, Address address, Bytes size) {
  if (address == 0) return refuse(place, size);
  if (size == 0) {
    ++live(place.heap).emplace(address).first->empty;
    return leave_out_empty(Op::allocate);
  }
  Block* block = live(place.heap).emplace(address).first;
  if (block->slot != kNoSlot) {
    add_lost_free(place, address, *block);
    block = live(place.heap).emplace(address).first;
  }
  block->slot = builder_.take_slot();
  block->size = size;
  add(Op::allocate, place, address, block->slot, size);
}

void PointerLog::add_lost_free(PointerPlace place, Address address, const Block& block) {
  constexpr const char* kLostFrees = "frees missing in the log";
  if (block.is_earlier) noted_.emplace(place.heap, address);
  free(place, address);
  ++trace().coverage.synthesised[kLostFrees];
  trace().coverage.note_place(kLostFrees, place_());
  is_gapless_ = false;
}

void PointerLog::free_unknown(PointerPlace place, Address address, std::optional<Bytes> size) {
  lacks("frees of blocks that the log does not allocate");
  if (begins_with_ || size.value_or(0) == 0) return;
  if (noted_.emplace(place.heap, address).second) found_.push_back({place, address, *size});
}

void PointerLog::refuse(PointerPlace place, Bytes size) {
  if (size == 0) return leave_out("allocations that failed");
  add(Op::oom, place, 0, kNoSlot, size);
}

void PointerLog::mark() { add(Op::marker, {}, 0, kNoSlot, 0); }

void PointerLog::free(PointerPlace place, Address address, std::optional<Bytes> size) {
  if (address == 0) return leave_out("frees of null");
  Block* const block = live(place.heap).find(address);
  if (block == nullptr) return free_unknown(place, address, size);
  if (block->slot == kNoSlot) {
    --block->empty;
    leave_out_empty(Op::free);
  } else {
    if (size && *size != block->size) leave_out("sizes of frees other than their block's");
    add(Op::free, place, address, block->slot, block->size);
    block->is_earlier = false;
    builder_.return_slot(std::exchange(block->slot, kNoSlot));
  }
  if (block->empty == 0) live(place.heap).erase(address);
}

void PointerLog::reallocate(PointerPlace place, Address from, Address to, Bytes size) {
  if (to == 0 && size > 0) return refuse(place, size);  // the block stays
  if (from != 0) free(place, from);
  allocate(place, to, size);
}

bool PointerLog::finish(Recording& recording) {
  outlet_.close(builder_);
  trace().coverage.gapless = is_gapless_;
  trace().coverage.complete = is_gapless_ && is_sure_;
  if (const auto early = trace().coverage.synthesised.find(kFromBefore);
      early != trace().coverage.synthesised.end()) {
    recording.lacks.push_back(
        fmt::format("the order of blocks from before the log ({})", human_count(early->second)));
  }
  if (trace().coverage.synthesised.contains(kRestFromBefore)) {
    recording.lacks.emplace_back("which blocks were live before the log and after it");
  }
  recording.traces.push_back(builder_.finish());
  outlet_.finish(recording);
  return outlet_.is_used() || !outlet_.is_open();
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
