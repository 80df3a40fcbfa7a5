#include "device/real/block_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

/// So often the host waits to hear what the checks found.
constexpr std::size_t kChecksAtATime = 1024;

}  // namespace

BlockWork::BlockWork(RealDevice& device, RealMemory& memory, Touch touch, std::string_view strategy)
    : device_(device),
      memory_(memory),
      work_(memory.execution()),
      touch_(touch),
      strategy_(strategy) {
  if (touch == Touch::none) return;
  (void)work_.mismatches();  // left by a replay that was given up
  device_.before_return([this](Address at, Bytes size) { check_what_lies_in(at, size); });
}

BlockWork::~BlockWork() {
  device_.before_return([](Address, Bytes) {});
  for (const Handle handle : pending_) work_.forget(*blocks_[handle].last_use);
}

void BlockWork::placed(std::uint64_t event, const Request& request, const Placement& placement) {
  event_ = event;
  if (placement.handle >= blocks_.size()) blocks_.resize(std::size_t{placement.handle} + 1);
  Block& block = blocks_[placement.handle];
  block = {.address = placement.address,
           .size = request.size,
           .stream = request.stream,
           .placed = event};
  if (touch_ == Touch::none) return;
  block.tag = ++tags_;
  written_.insert_or_assign(block.address, placement.handle);
  follow_other_streams(request.stream);
  for (const RealRange& range : device_.ranges(block.address, block.size)) {
    work_.fill(block.stream, range, block.tag, touch_);
  }
  ++touched_.filled;
  touched_.filled_bytes += block.size;
  if (memory_.facts().pages_when_touched) memory_.sample();
}

void BlockWork::free_requested(std::uint64_t event, const Placement& placement) {
  event_ = event;
  Block& block = blocks_[placement.handle];
  block.last_use = work_.record(block.stream);
  pending_.insert(placement.handle);
}

void BlockWork::freed(std::uint64_t event, const Placement& placement) {
  event_ = event;
  Block& block = blocks_[placement.handle];
  if (block.last_use) work_.wait(*block.last_use);
  forget_last_use(placement.handle);
  check(block);
}

void BlockWork::moved_out(const Placement& placement) {
  forget_last_use(placement.handle);
  check(blocks_[placement.handle]);
}

// Its bytes are written anew rather than copied.
void BlockWork::moved(const Placement& from, const Placement& to) {
  moved_out(from);
  const Block& block = blocks_[from.handle];
  placed(event_, {.size = block.size, .stream = block.stream}, to);
}

void BlockWork::synchronised() {
  work_.synchronise();
  for (auto& seen : seen_) seen = checks_;
  for (const Handle handle : pending_) check(blocks_[handle]);
}

// Which streams it were is not known; the calls are the same for all.
void BlockWork::stream_waited(StreamIndex stream, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    const auto other =
        std::ranges::find_if(lanes_, [&](StreamIndex lane) { return !work_.same(lane, stream); });
    const Execution::Point point = work_.record(other == lanes_.end() ? stream : *other);
    work_.wait(stream, point);
    work_.forget(point);
  }
}

void BlockWork::finish() {
  for (Block& block : blocks_) check(block);
  look_at_mismatches();
}

std::size_t BlockWork::lane_of(StreamIndex stream) {
  const auto found =
      std::ranges::find_if(lanes_, [&](StreamIndex lane) { return work_.same(lane, stream); });
  const auto lane = static_cast<std::size_t>(found - lanes_.begin());
  if (found == lanes_.end()) {
    lanes_.push_back(stream);
    checks_.push_back(0);
    seen_.emplace_back();
    for (auto& seen : seen_) seen.resize(lanes_.size());
  }
  return lane;
}

// The memory of the new block may have been another stream's: its check comes first.
void BlockWork::follow_other_streams(StreamIndex stream) {
  const std::size_t lane = lane_of(stream);
  for (std::size_t other = 0; other < lanes_.size(); ++other) {
    if (other == lane || seen_[lane][other] == checks_[other]) continue;
    const Execution::Point point = work_.record(lanes_[other]);
    work_.wait(stream, point);
    work_.forget(point);
    seen_[lane][other] = checks_[other];
  }
}

void BlockWork::forget_last_use(Handle handle) {
  if (pending_.erase(handle) == 0) return;
  work_.forget(*blocks_[handle].last_use);
  blocks_[handle].last_use.reset();
}

// What may be returned is free, moved, or pending with all streams waited for: this is the last
// moment to look at it.
void BlockWork::check_what_lies_in(Address at, Bytes size) {
  auto written = written_.lower_bound(at);
  if (written != written_.begin()) {
    const auto below = std::prev(written);
    if (at - below->first < blocks_[below->second].size) written = below;
  }
  while (written != written_.end() && (written->first < at || written->first - at < size)) {
    check(blocks_[(written++)->second]);
  }
}

void BlockWork::check(Block& block) {
  if (block.tag == 0) return;
  written_.erase(block.address);
  const std::size_t lane = lane_of(block.stream);
  for (const RealRange& range : device_.ranges(block.address, block.size)) {
    work_.check(block.stream, range, block.tag, touch_);
  }
  ++checks_[lane];
  ++touched_.checked;
  checked_.push_back({block.tag, block.placed, event_});
  block.tag = 0;
  if (checked_.size() == kChecksAtATime) look_at_mismatches();
}

void BlockWork::look_at_mismatches() {
  const auto mismatches = work_.mismatches();
  if (mismatches.empty()) {
    checked_.clear();
    return;
  }
  const TouchMismatch& first = mismatches.front();
  const auto block = std::ranges::find(checked_, first.tag, &Checked::tag);
  throw AuditError(fmt::format(
      "strategy '{}', event {}: the block of event {} was overwritten while it lived, at {:#x} of "
      "{}",
      strategy_, block->freed, block->placed, first.address, memory_.facts().name));
}

}  // namespace memreplay
