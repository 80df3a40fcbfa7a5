#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>

#include "core/address_table.hpp"
#include "trace/pages.hpp"
#include "trace/snapshot/torch_snapshot.hpp"
#include "trace/torch/start_state.hpp"
#include "trace/torch/unstated_settings.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

using Dropped = std::map<std::string, std::uint64_t>;

bool has_room(const TorchSegment& segment) {
  return segment.size > 0 && segment.size < kMostBytes &&
         segment.address + segment.size >= segment.address;
}

void tile(TorchSegment& segment, Dropped& dropped) {
  const Address end = segment.address + segment.size;
  Address at = segment.address;
  std::vector<TorchBlock> tiles;
  tiles.reserve(segment.blocks.size());
  const auto fill_up_to = [&](Address to) {
    if (to == at) return;
    tiles.push_back({.address = at, .size = to - at, .state = BlockState::free});
    ++dropped["gaps between the blocks of a segment"];
  };
  for (TorchBlock& block : segment.blocks) {
    if (block.address < at || block.address >= end || block.size == 0 ||
        block.size > end - block.address) {
      ++dropped["blocks outside their segment or over another"];
      continue;
    }
    if (block.state != BlockState::free && block.requested > block.size) {
      block.requested = block.size;
      ++dropped["parts of requests that are larger than their block"];
    }
    fill_up_to(block.address);
    at = block.address + block.size;
    tiles.push_back(block);
  }
  fill_up_to(end);
  segment.blocks = std::move(tiles);
}

/// The final segments of one device by ascending address, as the gate wants them (trace/gate.hpp):
/// apart from each other, each tiled by its blocks. What contradicts is left out or cut to fit, and
/// counted in `dropped` by its reason. O(n log n).
std::vector<TorchSegment> final_segments(const TorchSnapshot& snapshot, int device,
                                         Dropped& dropped) {
  std::vector<TorchSegment> of_device, kept;
  std::ranges::copy_if(snapshot.segments, std::back_inserter(of_device),
                       [&](const TorchSegment& segment) { return segment.device == device; });
  std::ranges::stable_sort(of_device, {}, &TorchSegment::address);
  kept.reserve(of_device.size());
  Address end = 0;
  for (TorchSegment& segment : of_device) {
    if (!has_room(segment)) {
      ++dropped["segments without a size"];
    } else if (segment.address < end) {
      ++dropped["segments over others"];
    } else {
      end = segment.address + segment.size;
      tile(segment, dropped);
      kept.push_back(std::move(segment));
    }
  }
  return kept;
}

BlockRules rules_of(const RecordedSettings& settings) {
  BlockRules rules;
  if (settings.roundup_power2_divisions) rules.roundup = *settings.roundup_power2_divisions;
  if (settings.max_split_size) rules.max_split_size = static_cast<Bytes>(*settings.max_split_size);
  rules.expandable = settings.expandable_segments.value_or(false);
  rules.request_padding = settings.request_padding;
  return rules;
}

// As people choose the length of a ring: 1,000, 2,500, 100,000, 65,536.
bool is_round(std::uint64_t count) {
  constexpr std::uint64_t kLeast = 1000;
  if (count < kLeast) return false;
  if (std::has_single_bit(count)) return true;
  while (count % 10 == 0) count /= 10;
  return count < 100;
}

// Turns the entries and final segments of one device into a Trace.
class DeviceReading {
 public:
  DeviceReading(TorchSnapshot& snapshot, int device)
      : snapshot_(snapshot),
        device_(device),
        builder_(device),
        segments_(final_segments(snapshot, device, dropped_)),
        history_(segments_, large_segment_size(snapshot.settings)) {
    if (list() < snapshot.device_traces.size()) {
      entries_ = std::move(snapshot.device_traces[list()]);
    }
    for (const TorchEntry& entry : entries_) {
      requests_recorded_ |= entry.action == TorchAction::free_requested;
      completions_recorded_ |= entry.action == TorchAction::free_completed;
    }
  }

  Trace read() {
    walk_back();
    play();
    if (frees_again()) {
      knows_gone_ = true;
      play();
    }
    find_untouched();
    lay_out();
    return builder_.finish();
  }

 private:
  struct Live {
    Slot slot = kNoSlot;
    Bytes size = 0;
    bool requested_free = false;
    std::size_t start_block = SIZE_MAX;  ///< index into start_, for blocks from before

    bool is_gone() const { return slot == kNoSlot; }
  };

  /// Where its entries stand; the host's are alone.
  std::size_t list() const { return static_cast<std::size_t>(std::max(device_, 0)); }
  Coverage& coverage() { return builder_.trace().coverage; }
  PoolId pool_id(std::uint32_t pool) const {
    return pool == kUnknownPool ? PoolId{} : snapshot_.pools[pool];
  }

  void play() {
    builder_ = TraceBuilder(device_);
    coverage().dropped = dropped_;
    live_ = {};
    start_.clear();
    copy_end();
    reserve();
    for (std::size_t i = 0; i < entries_.size(); ++i) add(i);
  }

  // Whether a block that seemed to be from before the recording is one that it allocated or freed
  // itself. To know all that are gone all along would cost a third of the time of reading.
  bool frees_again() const {
    AddressTable<std::size_t> freed_at;
    for (const StartBlock& block : start_) {
      const auto [index, fresh] = freed_at.emplace(block.address);
      if (!fresh) return true;
      *index = block.first_free;
    }
    for (std::size_t i = 0; i < entries_.size() && !start_.empty(); ++i) {
      if (entries_[i].action != TorchAction::alloc) continue;
      const std::size_t* index = freed_at.find(entries_[i].address);
      if (index != nullptr && i < *index) return true;
    }
    return false;
  }

  void copy_end() {
    for (const TorchSegment& segment : segments_) {
      SegmentInfo info{.address = segment.address,
                       .size = segment.size,
                       .stream = builder_.stream(segment.stream),
                       .pool = builder_.pool(pool_id(segment.pool)),
                       .small_pool = segment.small_pool,
                       .expandable = segment.expandable,
                       .blocks = {}};
      for (const TorchBlock& block : segment.blocks) {
        const bool free = block.state == BlockState::free;
        info.blocks.push_back({.address = block.address,
                               .size = block.size,
                               .requested = free ? 0 : block.requested,
                               .state = block.state,
                               .stack = block.stack});
      }
      builder_.trace().end.segments.push_back(std::move(info));
    }
  }

  // Leaves `history_` at the first moment; entries of releases that named no pool get that of the
  // segment they lie in, what is unmapped that of the run it was part of. Those that cannot have
  // been, even from the start so found, are left out.
  void walk_back() {
    std::uint64_t contradicting = 0;
    const bool find_pools =
        !snapshot_.has_entry_pools &&
        std::ranges::any_of(snapshot_.pools, [](PoolId pool) { return pool != PoolId{}; });
    for (std::size_t i = entries_.size(); i-- > 0;) {
      TorchEntry& entry = entries_[i];
      const auto find_pool = [&] {
        if (!find_pools || entry.pool != kUnknownPool) return;
        if (const auto* segment = history_.find(entry.address)) entry.pool = segment->pool;
      };
      find_pool();
      if (!history_.undo(entry)) ++contradicting;
      find_pool();
    }
    if (contradicting == 0) return;
    dropped_["segment entries that contradict the final segments"] = contradicting;
    SegmentHistory forward = history_;
    std::erase_if(entries_, [&](const TorchEntry& entry) { return !forward.redo(entry); });
  }

  void reserve() {
    Trace& trace = builder_.trace();
    builder_.reserve_exactly(entries_.size());
    if (snapshot_.has_times) reserve_exactly(trace.times_us, entries_.size());
    reserve_exactly(trace.stacks, entries_.size());
    reserve_exactly(trace.tags, entries_.size());
    reserve_exactly(trace.addresses, entries_.size());
  }

  void append(const TorchEntry& entry, Op op, Slot slot, Bytes size) {
    builder_.add(op, builder_.lane(entry.stream, pool_id(entry.pool)), slot, size);
    if (snapshot_.has_times) builder_.fill<&Trace::times_us>(entry.time_us);
    builder_.fill<&Trace::stacks>(entry.stack);
    builder_.fill<&Trace::tags>(entry.tag);
    builder_.fill<&Trace::addresses>(entry.address);
  }

  void add(std::size_t index) {
    const TorchEntry& entry = entries_[index];
    switch (entry.action) {
      case TorchAction::alloc:
        return add_alloc(entry);
      case TorchAction::free_requested:
      case TorchAction::free_completed:
        return add_free(entry, index);
      case TorchAction::segment_alloc:
        return append(entry, Op::segment_alloc, kNoSlot, entry.size);
      case TorchAction::segment_free:
        return append(entry, Op::segment_free, kNoSlot, entry.size);
      case TorchAction::segment_map:
        return append(entry, Op::segment_map, kNoSlot, entry.size);
      case TorchAction::segment_unmap:
        return append(entry, Op::segment_unmap, kNoSlot, entry.size);
      case TorchAction::oom:
        // Stated with the padding, and rounded.
        return append(entry, Op::oom, kNoSlot,
                      entry.size - std::min(entry.size, snapshot_.settings.request_padding));
      case TorchAction::snapshot:
      case TorchAction::annotate:
      case TorchAction::other:
        return append(entry, Op::marker, kNoSlot, 0);
    }
  }

  void add_alloc(const TorchEntry& entry) {
    Live* const live = live_.emplace(entry.address).first;
    if (!live->is_gone()) {
      ++coverage().synthesised["frees missing in the recording"];
      append(entry, live->requested_free ? Op::free_completed : Op::free, live->slot, live->size);
      builder_.return_slot(live->slot);
    }
    *live = {.slot = builder_.take_slot(), .size = entry.size};
    append(entry, Op::allocate, live->slot, entry.size);
  }

  void add_free(const TorchEntry& entry, std::size_t index) {
    const bool completes = entry.action == TorchAction::free_completed || !completions_recorded_;
    Live* known = live_.find(entry.address);
    if (known != nullptr && (known->is_gone() || (known->requested_free && !completes))) {
      ++coverage().dropped["frees of blocks that were freed already"];
      return;
    }
    Live& live = known != nullptr ? *known : note_from_before(entry, index);
    const bool at_once = completes && !live.requested_free;
    if (at_once && completions_recorded_ && requests_recorded_) {
      ++coverage().synthesised["requests of frees missing in the recording"];
    }
    append(entry,
           at_once     ? Op::free
           : completes ? Op::free_completed
                       : Op::free_requested,
           live.slot, live.size);
    live.requested_free = true;
    if (!completes) return;
    if (live.start_block != SIZE_MAX) start_[live.start_block].freed_at = index;
    builder_.return_slot(live.slot);
    if (knows_gone_) {
      live.slot = kNoSlot;
    } else {
      live_.erase(entry.address);
    }
  }

  // A free of a block that no entry allocated: it existed before the recording. The entry's stack
  // is that of the free; who asked for the block is not known.
  Live& note_from_before(const TorchEntry& entry, std::size_t index) {
    const bool pending = entry.action == TorchAction::free_completed && requests_recorded_;
    const Slot slot = builder_.trace().slot_count++;
    start_.push_back({.address = entry.address,
                      .requested = entry.size,
                      .state = pending ? BlockState::pending : BlockState::allocated,
                      .slot = slot,
                      .first_free = index});
    Live& live = *live_.emplace(entry.address).first;
    live = {.slot = slot,
            .size = entry.size,
            .requested_free = pending,
            .start_block = start_.size() - 1};
    return live;
  }

  void cut_to_fit(StartBlock& block) {
    if (block.requested <= block.size) return;
    block.requested = block.size;
    ++coverage().dropped["parts of requests that are larger than their block"];
  }

  // Blocks that were there before the recording and still are.
  void find_untouched() {
    const auto note = [&](BlockInfo& block) {
      const Live* live = live_.find(block.address);
      if (live != nullptr && !live->is_gone()) {
        block.slot = live->slot;
        if (live->start_block != SIZE_MAX) {
          StartBlock& start = start_[live->start_block];
          start.size = block.size;
          cut_to_fit(start);
          start.stack = block.stack;
        }
        return;
      }
      block.slot = builder_.trace().slot_count++;
      start_.push_back({.address = block.address,
                        .requested = block.requested,
                        .size = block.size,
                        .state = block.state,
                        .slot = block.slot,
                        .stack = block.stack});
    };
    for (SegmentInfo& segment : builder_.trace().end.segments) {
      for (BlockInfo& block : segment.blocks) {
        if (block.state != BlockState::free) note(block);
      }
    }
  }

  void lay_out() {
    Trace& trace = builder_.trace();
    std::uint64_t unplaced = 0;
    trace.start = lay_out_start(history_.segments(), start_, entries_, rules_of(snapshot_.settings),
                                unplaced);
    std::size_t i = 0;
    for (const auto& [address, segment] : history_.segments()) {
      trace.start.segments[i].stream = builder_.stream(segment.stream);
      trace.start.segments[i++].pool = builder_.pool(pool_id(segment.pool));
    }
    Coverage& coverage = trace.coverage;
    if (unplaced > 0) coverage.dropped["blocks from before that are in no segment"] = unplaced;
    coverage.starts_empty = trace.start.segments.empty() && start_.empty();
    coverage.complete = coverage.starts_empty && coverage.dropped.empty();
    coverage.preexisting_blocks = start_.size();
    for (const StartBlock& block : start_) coverage.preexisting_bytes += block.requested;
    if (!std::ranges::is_sorted(trace.times_us)) coverage.dropped["time order (ring resized)"] = 1;
    coverage.gapless = coverage.dropped.empty() && coverage.synthesised.empty();
    if (!coverage.starts_empty) coverage.full_ring = full_ring();
  }

  // A file that does not state how long the ring was shows it by its number of entries.
  std::optional<std::uint64_t> full_ring() const {
    if (list() >= snapshot_.entry_counts.size()) return std::nullopt;
    const std::uint64_t entries = snapshot_.entry_counts[list()];
    const auto& most = snapshot_.max_entries;
    const bool full = most ? entries > 0 && entries >= *most : is_round(entries);
    return full ? std::optional(entries) : std::nullopt;
  }

  TorchSnapshot& snapshot_;
  int device_;
  TraceBuilder builder_;
  std::map<std::string, std::uint64_t> dropped_;  ///< before the first event
  std::vector<TorchSegment> segments_;            ///< final
  SegmentHistory history_;
  std::vector<TorchEntry> entries_;
  AddressTable<Live> live_;
  bool knows_gone_ = false;  ///< `live_` has what is gone, too: it cannot be freed again
  std::vector<StartBlock> start_;
  bool requests_recorded_ = false;
  bool completions_recorded_ = false;
};

}  // namespace

Trace torch_trace(TorchSnapshot& snapshot, int device) {
  return DeviceReading(snapshot, device).read();
}

}  // namespace memreplay
