#include "spool/block_trace.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace memreplay::capture {

void BlockTrace::end_past(std::int64_t time_us) {
  is_past_ = false;
  std::vector<std::pair<std::uint64_t, Address>> oldest_first;
  live_.for_each(
      [&](Address address, const Live& live) { oldest_first.emplace_back(live.number, address); });
  std::sort(oldest_first.begin(), oldest_first.end());
  for (const auto& [number, address] : oldest_first) {
    Live& live = *live_.find(address);
    live.slot = builder_.take_slot();
    add(Op::allocate, live, {time_us, live.thread});
    ++coverage().synthesised["allocations of blocks from before the fork"];
  }
}

void BlockTrace::allocate(Address address, const Block& block, Made made) {
  if (const Live* there = live_.find(address)) {
    if (!is_past_) ++coverage().synthesised["frees of blocks whose place was given again"];
    add(Op::free, *there, made);
    forget(address, *there);
  }
  Live& live = *live_.emplace(address).first;
  live = {block, is_past_ ? kNoSlot : builder_.take_slot(), builder_.lane(block.stream, block.pool),
          allocations_++, made.thread};
  ++live_count_;
  live_bytes_ += block.size;
  add(Op::allocate, live, made);
}

bool BlockTrace::free(Address address, Made made, std::optional<std::uint64_t> stream) {
  Live* const live = live_.find(address);
  if (live == nullptr) {
    if (!is_past_) ++coverage().dropped["frees of blocks from before the recording"];
    return false;
  }
  if (stream) live->lane = builder_.lane(*stream, live->block.pool);
  add(Op::free, *live, made);
  forget(address, *live);
  return true;
}

void BlockTrace::refuse(const Block& block, Made made) {
  const Live nothing{.block = block, .lane = builder_.lane(block.stream, block.pool)};
  add(Op::oom, nothing, made);
}

void BlockTrace::clear_events() {
  for_each_column([&](auto column) { (events().*column).clear(); });
}

void BlockTrace::add(Op op, const Live& live, Made made) {
  if (is_past_) return;
  builder_.add(op, live.lane, live.slot, live.block.size,
               op == Op::allocate ? live.block.align_log2 : std::uint8_t{0});
  builder_.fill<&Trace::times_us>(made.time_us);
  builder_.fill<&Trace::threads>(number_of(made.thread));
}

void BlockTrace::forget(Address address, const Live& live) {
  --live_count_;
  live_bytes_ -= live.block.size;
  if (!is_past_) builder_.return_slot(live.slot);
  live_.erase(address);
}

/// 1 and up, as they come: numbers of the kernel differ from run to run.
std::uint32_t BlockTrace::number_of(std::uint32_t thread) {
  return threads_.emplace(thread, static_cast<std::uint32_t>(threads_.size() + 1)).first->second;
}

}  // namespace memreplay::capture
