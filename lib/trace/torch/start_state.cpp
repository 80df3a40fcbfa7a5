#include "trace/torch/start_state.hpp"

#include <algorithm>

#include "core/units.hpp"

namespace memreplay {

SegmentHistory::SegmentHistory(const std::vector<TorchSegment>& segments, Bytes large_segment_size)
    : large_segment_size_(large_segment_size) {
  for (const TorchSegment& segment : segments) {
    segments_[segment.address] = {segment.size, segment.stream, segment.pool, segment.small_pool,
                                  segment.expandable};
  }
}

const SegmentHistory::Segment* SegmentHistory::find(Address address) const {
  auto it = segments_.upper_bound(address);
  if (it == segments_.begin()) return nullptr;
  --it;
  return address - it->first < it->second.size ? &it->second : nullptr;
}

bool SegmentHistory::is_apart(const TorchEntry& entry) const {
  const Address end = entry.address + entry.size;
  if (end <= entry.address || entry.size >= kMostBytes) return false;
  const auto next = segments_.lower_bound(end);
  if (next == segments_.begin()) return true;
  const auto& [address, last] = *std::prev(next);
  return address + last.size <= entry.address;
}

bool SegmentHistory::add_plain(const TorchEntry& entry) {
  if (!is_apart(entry)) return false;
  segments_[entry.address] = {entry.size, entry.stream, entry.pool,
                              entry.size == torch::kSmallBuffer, false};
  return true;
}

bool SegmentHistory::take_plain(const TorchEntry& entry) {
  const auto it = segments_.find(entry.address);
  if (it == segments_.end() || it->second.size != entry.size || it->second.expandable) return false;
  segments_.erase(it);
  return true;
}

bool SegmentHistory::undo(const TorchEntry& entry) {
  switch (entry.action) {
    case TorchAction::segment_alloc:
      return take_plain(entry);
    case TorchAction::segment_free:
      return add_plain(entry);
    case TorchAction::segment_map:
      return cut_run(segments_, entry.address, entry.size);
    case TorchAction::segment_unmap:
      return add_mapped(entry);
    default:
      return true;
  }
}

bool SegmentHistory::redo(const TorchEntry& entry) {
  switch (entry.action) {
    case TorchAction::segment_alloc:
      return add_plain(entry);
    case TorchAction::segment_free:
      return take_plain(entry);
    case TorchAction::segment_map:
      return add_mapped(entry);
    case TorchAction::segment_unmap:
      return cut_run(segments_, entry.address, entry.size);
    default:
      return true;
  }
}

bool SegmentHistory::add_mapped(const TorchEntry& entry) {
  if (!is_apart(entry)) return false;
  const Segment run{entry.size, entry.stream, entry.pool, entry.size % large_segment_size_ != 0,
                    true};
  add_run(segments_, entry.address, run, [&](const Segment& other) {
    return other.expandable && other.stream == run.stream &&
           (entry.pool == kUnknownPool || other.pool == entry.pool);
  });
  return true;
}

void add_run(SegmentTable& segments, Address from, SegmentHistory::Segment run,
             const std::function<bool(const SegmentHistory::Segment&)>& joins) {
  auto next = segments.lower_bound(from);
  if (next != segments.end() && next->first == from + run.size && joins(next->second)) {
    run = {run.size + next->second.size, run.stream, next->second.pool, next->second.small_pool,
           true};
    next = segments.erase(next);
  }
  if (next != segments.begin()) {
    const auto prev = std::prev(next);
    if (prev->first + prev->second.size == from && joins(prev->second)) {
      prev->second.size += run.size;
      return;
    }
  }
  segments[from] = run;
}

bool cut_run(SegmentTable& segments, Address from, Bytes size) {
  const Address to = from + size;
  const auto behind = segments.upper_bound(from);
  if (to <= from || behind == segments.begin()) return false;
  const auto first = std::prev(behind);
  // Mapped runs without a hole between them.
  Address reached = from;
  for (auto run = first; reached < to; ++run) {
    if (run == segments.end() || !run->second.expandable || run->first > reached) return false;
    if (run->first + run->second.size <= reached) return false;
    reached = run->first + run->second.size;
  }
  for (auto run = first; run != segments.end() && run->first < to;) {
    SegmentHistory::Segment part = run->second;
    const Address end = run->first + part.size;
    const Address begin = run->first;
    run = segments.erase(run);
    if (begin < from) {
      part.size = from - begin;
      segments[begin] = part;
    }
    if (end > to) {
      part.size = end - to;
      segments[to] = part;
      break;
    }
  }
  return true;
}

namespace {

// Whether a block of this segment can be larger than its request, rounded.
bool may_have_tail(const SegmentHistory::Segment& segment, const BlockRules& rules) {
  return !segment.small_pool && !segment.expandable && !rules.expandable;
}

// In a plain large segment, an allocation that begins at most 1 MiB after a live block begins where
// that block ends. Elsewhere small free pieces may lie between.
void learn_ends(const SegmentTable& segments, std::vector<StartBlock>& blocks,
                std::span<const TorchEntry> entries, const BlockRules& rules,
                const std::vector<Bytes>& rounded) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].action != TorchAction::alloc) continue;
    auto it = std::ranges::upper_bound(blocks, entries[i].address, {}, &StartBlock::address);
    auto segment = segments.upper_bound(entries[i].address);
    if (it == blocks.begin() || segment == segments.begin()) continue;
    StartBlock& before = *--it;
    --segment;
    if (before.address < segment->first || !may_have_tail(segment->second, rules)) continue;
    const Bytes size = rounded[static_cast<std::size_t>(it - blocks.begin())];
    const Bytes distance = entries[i].address - before.address;
    if (before.size == 0 && before.freed_at > i && distance >= size &&
        distance - size <= torch::kSmallSize) {
      before.size = distance;
    }
  }
}

}  // namespace

MemoryState lay_out_start(const SegmentTable& segments, std::vector<StartBlock>& blocks,
                          std::span<const TorchEntry> entries, const BlockRules& rules,
                          std::uint64_t& unplaced) {
  std::ranges::sort(blocks, {}, &StartBlock::address);
  std::vector<Bytes> rounded(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    rounded[i] = torch::round_size(blocks[i].requested + rules.request_padding, rules.roundup,
                                   rules.one_is_unrounded);
  }
  if (std::ranges::any_of(blocks, [](const StartBlock& block) { return block.size == 0; }) &&
      !rules.expandable) {
    learn_ends(segments, blocks, entries, rules, rounded);
  }
  MemoryState state;
  std::size_t next = 0;
  for (const auto& [address, segment] : segments) {
    SegmentInfo info{.address = address,
                     .size = segment.size,
                     .small_pool = segment.small_pool,
                     .expandable = segment.expandable,
                     .blocks = {}};
    const Address end = address + segment.size;
    for (; next < blocks.size() && blocks[next].address < address; ++next) ++unplaced;
    Address at = address;
    for (; next < blocks.size() && blocks[next].address < end; ++next) {
      const StartBlock& block = blocks[next];
      const Address limit =
          next + 1 < blocks.size() ? std::min(end, blocks[next + 1].address) : end;
      Bytes size = block.size != 0 ? block.size : rounded[next];
      if (block.address < at || size > limit - block.address) {
        ++unplaced;
        continue;
      }
      if (may_have_tail(segment, rules) && block.size == 0) {
        const Bytes rest = limit - block.address - size;
        if (rest <= torch::kSmallSize || rounded[next] >= rules.max_split_size) size += rest;
      }
      if (block.address > at) {
        info.blocks.push_back({.address = at, .size = block.address - at});
      }
      info.blocks.push_back(
          {block.address, size, block.requested, block.state, block.slot, block.stack});
      at = block.address + size;
    }
    if (at < end) info.blocks.push_back({.address = at, .size = end - at});
    if (segment.expandable) {
      for (const BlockInfo& block : info.blocks) {
        if (block.state != BlockState::free) info.small_pool = block.size <= torch::kSmallSize;
      }
    }
    state.segments.push_back(std::move(info));
  }
  unplaced += blocks.size() - next;
  return state;
}

}  // namespace memreplay
