#include "run/late_start/rehearsal.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/units.hpp"
#include "replay/caller.hpp"

namespace memreplay {
namespace {

/// The least request that may grow with the program's shapes; smaller ones are counters.
constexpr Bytes kLeastScalable = 4096;
/// Persistent blocks from here on have gradients and copies as large as they are.
constexpr Bytes kLeastCopied = 5 * kMiB;

class Rules {
 public:
  explicit Rules(const torch::Settings& settings) : settings_(settings) {}

  Bytes rounded(Bytes requested) const {
    return torch::round_size(requested + settings_.request_padding,
                             settings_.roundup_power2_divisions);
  }
  Bytes segment_for(Bytes requested) const {
    return torch::get_allocation_size(rounded(requested), settings_.large_segment_size);
  }
  Bytes standard_segment() const { return settings_.large_segment_size; }

 private:
  const torch::Settings& settings_;
};

bool is_live(const BlockInfo& block) {
  return block.state != BlockState::free && block.requested != 0 && block.slot != kNoSlot;
}

// Which of them are the reason for their plain segment.
void find_founders(const SegmentInfo& segment, const Rules& rules,
                   std::vector<EarlierBlock>& blocks, std::size_t first) {
  const bool whole = segment.small_pool ||
                     (segment.size == rules.standard_segment() && is_live(segment.blocks.front()) &&
                      segment.blocks.front().requested < torch::kMinLargeAlloc);
  for (std::size_t i = first; i < blocks.size(); ++i) blocks[i].founder = whole;
  if (whole || !is_live(segment.blocks.front())) return;
  EarlierBlock& begins = blocks[first];
  begins.founder = rules.segment_for(begins.request.size) == segment.size;
}

// Expandable memory grows upward: what lies before the first hole came with it.
class ExpandableFounders {
 public:
  void find(const SegmentInfo& segment, std::vector<EarlierBlock>& blocks, std::size_t first) {
    bool& holed = holed_[{segment.stream, segment.pool}];
    for (const BlockInfo& block : segment.blocks) {
      if (is_live(block)) blocks[first++].founder = !holed;
      holed |= block.state == BlockState::free && block.size > torch::kSmallSize;
    }
  }

 private:
  std::map<std::pair<StreamIndex, PoolIndex>, bool> holed_;
};

std::vector<std::uint8_t> freed_slots(const Trace& trace) {
  std::vector<std::uint8_t> freed(trace.slot_count, 0);
  std::vector<std::uint8_t> reused(trace.slot_count, 0);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Slot slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    if (trace.ops[event] == Op::allocate) {
      reused[slot] = 1;
    } else if (!is_driver_event(trace.ops[event]) && !reused[slot]) {
      freed[slot] = 1;
    }
  }
  return freed;
}

std::vector<LeftBlock> left_blocks(const Trace& trace) {
  struct Life {
    std::uint64_t request = 0;
    bool live = false;
    bool pending = false;
  };
  std::vector<Life> lives(trace.slot_count);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Slot slot = trace.slots[event];
    if (slot == kNoSlot) continue;
    if (trace.ops[event] == Op::allocate) lives[slot] = {event, true, false};
    if (trace.ops[event] == Op::free_requested) lives[slot].pending = true;
    if (trace.ops[event] == Op::free || trace.ops[event] == Op::free_completed) lives[slot] = {};
  }
  std::vector<std::pair<std::uint64_t, LeftBlock>> left;
  for (Slot slot = 0; slot < trace.slot_count; ++slot) {
    if (lives[slot].live || lives[slot].pending)
      left.push_back({lives[slot].request, {slot, lives[slot].pending}});
  }
  std::ranges::sort(left, {}, [](const auto& block) { return block.first; });
  std::vector<LeftBlock> blocks;
  for (const auto& [request, block] : left) blocks.push_back(block);
  return blocks;
}

// Sizes that a persistent block has are those of its gradients and of an optimizer's temporaries.
void find_scalable(const Trace& trace, const Rules& rules, WarmParts& parts) {
  std::set<Bytes> persistent;
  for (const EarlierBlock& block : parts.blocks) {
    if (block.persistent) persistent.insert(rules.rounded(block.request.size));
  }
  parts.scalable.resize(trace.size(), 0);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    const Bytes size = trace.sizes[event];
    if (trace.ops[event] != Op::allocate || size < kLeastScalable) continue;
    const Bytes rounded = rules.rounded(size);
    if (persistent.contains(rounded)) continue;
    parts.scalable[event] = 1;
    parts.largest_scalable =
        std::max(parts.largest_scalable, round_up(rounded, torch::kRoundLarge));
  }
}

// The largest segment that no block of the model's own explains.
Bytes largest_earlier(const Trace& trace, const Rules& rules, const WarmParts& parts) {
  std::set<Bytes> explained;
  std::set<Slot> founders;
  for (const EarlierBlock& block : parts.blocks) {
    if (!block.persistent) continue;
    if (block.founder) founders.insert(block.slot);
    if (block.request.size < kLeastCopied) continue;
    explained.insert(rules.segment_for(block.request.size));
    explained.insert(rules.segment_for(2 * block.request.size));
  }
  Bytes largest = 0;
  for (const SegmentInfo& segment : trace.start.segments) {
    if (segment.expandable || segment.small_pool || segment.size <= torch::kLargeBuffer) continue;
    const BlockInfo& begins = segment.blocks.front();
    if (explained.contains(segment.size) || (is_live(begins) && founders.contains(begins.slot))) {
      continue;
    }
    largest = std::max(largest, segment.size);
  }
  return largest;
}

Bytes scaled_by(Bytes size, double factor) {
  return std::max<Bytes>(1, bytes_of(static_cast<double>(size) * factor));
}

bool holds_block(const SegmentInfo& segment) {
  return std::ranges::any_of(
      segment.blocks, [](const BlockInfo& block) { return block.state != BlockState::free; });
}

// One that stays and was put into cached memory.
bool is_guest(const EarlierBlock& block) { return block.persistent && !block.founder; }

}  // namespace

bool Rehearsal::prepare(const Preparation& preparation, std::size_t done) {
  const std::vector<double>& steps = preparation.rehearsals;
  if (done == 0 && !begin(preparation.start, !steps.empty())) return false;
  for (; done < steps.size(); ++done) {
    rehearse(steps[done], done == 0 && preparation.start == Preparation::Start::founders_first);
  }
  return true;
}

bool Rehearsal::begin(Preparation::Start start, bool rehearsed) {
  using Start = Preparation::Start;
  switch (start) {
    case Start::kept:
      return adopt(false);
    case Start::kept_live:
      return adopt(true);
    case Start::founders_first:
      if (rehearsed && script_.begins_at > 0) {
        place_all([](const EarlierBlock& block) { return block.persistent && block.founder; });
        place_alive();
        break;
      }
      place_all([](const EarlierBlock& block) { return !is_guest(block); });
      if (!rehearsed) place_all(is_guest);
      break;
    case Start::idle_first:
      place_all([](const EarlierBlock& block) { return block.founder; });
      hold_idle_segments();
      place_all(is_guest);
      place_all([](const EarlierBlock& block) { return !block.founder && !block.persistent; });
      break;
  }
  return true;
}

// What lives where the first rehearsal begins, but for what the recording never frees.
void Rehearsal::place_alive() {
  const Program& program = script_.rehearsed;
  std::map<Slot, Request> alive;
  std::vector<Slot> order;  // by request; the last place counts where a slot is used again
  const auto is_there = [&](Slot slot, const Request& request) {
    alive[slot] = request;
    order.push_back(slot);
  };
  for (const EarlierBlock& block : script_.parts.blocks) {
    if (!block.persistent && !block.pending) is_there(block.slot, block.request);
  }
  for (std::uint64_t event = 0; event < script_.begins_at; ++event) {
    const Op op = program.ops[event];
    const Slot slot = program.slots[event];
    if (slot == kNoSlot || is_driver_event(op)) continue;
    if (op == Op::allocate && program.sizes[event] > 0) is_there(slot, program.request(event));
    if (op == Op::free || op == Op::free_requested) alive.erase(slot);
  }
  std::set<Slot> placed;
  std::vector<Slot> last;
  for (auto slot = order.rbegin(); slot != order.rend(); ++slot) {
    if (alive.contains(*slot) && placed.insert(*slot).second) last.push_back(*slot);
  }
  for (auto slot = last.rbegin(); slot != last.rend(); ++slot) {
    const auto placement = strategy_.allocate(alive.at(*slot));
    refused_ += !placement;
    if (placement) placed_[*slot] = *placement;
  }
}

// Guests came when what the recording's end leaves was still there.
void Rehearsal::rehearse(double factor, bool first) {
  const std::uint64_t size = script_.rehearsed.size();
  const std::uint64_t from = first ? script_.begins_at : 0;
  const std::uint64_t guests_at = first ? std::clamp(script_.guests_at, from, size) : size;
  play(factor, from, guests_at);
  if (first) place_all(is_guest);
  play(factor, guests_at, size);
  clear_left();
  place_all([&](const EarlierBlock& block) {
    return !block.persistent && placed_[block.slot].handle == kNoHandle;
  });
}

bool Rehearsal::adopt(bool live_only) {
  MemoryState state = *script_.rehearsed.start;
  if (live_only) std::erase_if(state.segments, [](const auto& s) { return !holds_block(s); });
  return take_over(state, strategy_, device_, placed_);
}

void Rehearsal::place(const EarlierBlock& block) {
  const auto placement = strategy_.allocate(block.request);
  if (!placement) {
    ++refused_;
    return;
  }
  placed_[block.slot] = *placement;
  if (block.pending) strategy_.request_free(placement->handle);
}

template <typename Which>
void Rehearsal::place_all(const Which& which) {
  for (const EarlierBlock& block : script_.parts.blocks) {
    if (which(block)) place(block);
  }
}

void Rehearsal::hold_idle_segments() {
  std::vector<Handle> held;
  for (const Request& request : script_.parts.idle_segments) {
    if (const auto placement = strategy_.allocate(request)) held.push_back(placement->handle);
  }
  for (const Handle block : held) strategy_.free(block, {});
}

void Rehearsal::play(double factor, std::uint64_t from, std::uint64_t to) {
  const Program& program = script_.rehearsed;
  auto act = std::ranges::lower_bound(program.acts, from, {}, &InferredCall::before);
  for (std::uint64_t event = from; event < to; ++event) {
    // Pools live on: their memory is used again when the recording itself is played.
    for (; act != program.acts.end() && act->before <= event; ++act) {
      if (act->kind == InferredCall::Kind::empty_cache) strategy_.empty_cache();
    }
    play_event(event, factor);
  }
}

// Blocks are completed as recorded, and what the program was refused is not asked for again.
void Rehearsal::play_event(std::uint64_t event, double factor) {
  const Program& program = script_.rehearsed;
  const Op op = program.ops[event];
  if (op == Op::empty_cache && !program.keeps_cache) strategy_.empty_cache();
  const Slot slot = program.slots[event];
  if (slot == kNoSlot || is_driver_event(op)) return;
  Placement& placed = placed_[slot];
  if (op == Op::allocate) {
    Request request = program.request(event);
    if (request.size == 0) return;
    if (script_.parts.scalable[event]) request.size = scaled_by(request.size, factor);
    const auto placement = strategy_.allocate(request);
    placed = placement.value_or(Placement{});
    refused_ += !placement;
  } else if (placed.handle != kNoHandle) {
    if (op == Op::free_requested) return strategy_.request_free(placed.handle);
    if (op == Op::free) strategy_.free(placed.handle, {});
    if (op == Op::free_completed) strategy_.complete_free(placed.handle);
    placed.handle = kNoHandle;
  }
}

void Rehearsal::clear_left() {
  for (const LeftBlock& block : script_.parts.left) {
    Placement& placed = placed_[block.slot];
    if (placed.handle == kNoHandle) continue;
    if (block.pending) strategy_.complete_free(placed.handle);
    if (!block.pending) strategy_.free(placed.handle, {});
    placed.handle = kNoHandle;
  }
}

WarmParts warm_parts(const Trace& trace, const torch::Settings& settings) {
  const Rules rules(settings);
  WarmParts parts;
  parts.reserved = reserved_bytes(trace.start);
  const std::vector<std::uint8_t> freed = freed_slots(trace);
  ExpandableFounders expandable;
  for (const SegmentInfo& segment : trace.start.segments) {
    const std::size_t first = parts.blocks.size();
    for (const BlockInfo& block : segment.blocks) {
      if (!is_live(block)) continue;
      parts.blocks.push_back({.slot = block.slot,
                              .request = {block.requested, 0, segment.stream, segment.pool},
                              .pending = block.state == BlockState::pending,
                              .persistent = freed[block.slot] == 0});
    }
    if (segment.expandable && !segment.small_pool) {
      expandable.find(segment, parts.blocks, first);
      continue;
    }
    find_founders(segment, rules, parts.blocks, first);
    const bool founded =
        std::any_of(parts.blocks.begin() + static_cast<std::ptrdiff_t>(first), parts.blocks.end(),
                    [](const EarlierBlock& block) { return block.founder; });
    if (!segment.small_pool && segment.size != rules.standard_segment() && !founded) {
      parts.idle_segments.push_back({segment.size, 0, segment.stream, segment.pool});
    }
  }
  parts.left = left_blocks(trace);
  find_scalable(trace, rules, parts);
  parts.largest_earlier = largest_earlier(trace, rules, parts);
  return parts;
}

}  // namespace memreplay
