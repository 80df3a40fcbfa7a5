#include "analysis/late_start/parts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

}  // namespace

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
