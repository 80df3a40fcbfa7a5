#include "trace/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/address_table.hpp"
#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/range_set.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::string too_large(Bytes size) {
  return fmt::format("a size of {} bytes; expected less than 1 EiB, the most that PyTorch serves",
                     human_count(size));
}

constexpr std::uint8_t kMostAlignLog2 = 40;
static_assert(kMostAlignment == Bytes{1} << kMostAlignLog2);

bool is_time(std::int64_t us) { return us >= -kMostTime && us <= kMostTime; }

std::string no_time(std::int64_t us) {
  return fmt::format("a time of {} microseconds; expected at most {} either way", us, kMostTime);
}

}  // namespace

/// Follows the events of a trace with nothing but the rules that every allocator's callers keep.
class TraceGate::Walk {
 public:
  explicit Walk(const Trace& trace) : trace_(trace), blocks_(trace.slot_count) {}

  std::optional<Fault> fault_before() {
    if (trace_.lanes.empty()) return Fault{"", "no lanes"};
    if (const char* what = state_fault(trace_.end)) return Fault{"the end", what};
    if (const char* what = state_fault(trace_.start)) return Fault{"the start", what};
    if (!enter_start()) return Fault{"the start", problem_};
    return std::nullopt;
  }

  std::optional<Fault> fault_in(const EventColumns& events) {
    events_ = &events;
    blocks_.resize(std::max<std::size_t>(blocks_.size(), trace_.slot_count));
    if (!columns_fit()) return Fault{"", "columns of different lengths"};
    const bool may_be_usual = events.addresses.empty() && have_lanes_and_times();
    for (std::size_t i = 0; i < events.ops.size(); ++i) {
      if (may_be_usual) i = play_usual(i);
      if (i == events.ops.size() || (fits(i) && step(i))) continue;
      return Fault{"event " + human_count(seen_ + i), problem_};
    }
    seen_ += events.ops.size();
    return std::nullopt;
  }

 private:
  enum class Life : std::uint8_t { unknown, allocated, pending, gone };
  /// In one word: there are many, and they lie anywhere.
  class Block {
   public:
    Block() = default;
    Block(Bytes size, Life life) : word_(size | static_cast<Bytes>(life) * kMostBytes) {}

    Bytes size() const { return word_ % kMostBytes; }
    Life life() const { return static_cast<Life>(word_ / kMostBytes); }
    friend bool operator==(const Block&, const Block&) = default;

   private:
    Bytes word_ = 0;
  };

  bool columns_fit() const;
  static const char* state_fault(const MemoryState& state);
  static const char* segment_fault(const SegmentInfo& segment);
  bool enter_start();
  bool is_lane(std::uint16_t lane) const { return lane < trace_.lanes.size(); }
  bool have_lanes_and_times() const;
  bool fits(std::size_t event);
  std::size_t play_usual(std::size_t event);
  bool step(std::size_t event);
  bool allocate(std::size_t event);
  bool free(std::size_t event);
  bool driver_event(std::size_t event);
  bool is_apart(Address from, Address to) const;

  bool fails(std::string what) {
    problem_ = std::move(what);
    return false;
  }
  bool add_bytes(Bytes size) {
    if (size >= kMostBytes) return fails(too_large(size));
    together_ += size;
    return together_ <= kBeyondDevices ||
           fails("more than 4 EiB of memory so far, one block after the other");
  }

  bool has_addresses() const { return !events_->addresses.empty(); }

  const Trace& trace_;
  const EventColumns* events_ = nullptr;  ///< the events at hand
  std::uint64_t seen_ = 0;                ///< events, so far
  TableOf<Block> blocks_;                 ///< by slot
  std::map<Address, Address> segments_;   ///< from -> to, those not mapped
  RangeSet mapped_;
  Bytes together_ = 0;
  std::string problem_;
};

bool TraceGate::Walk::columns_fit() const {
  const std::size_t size = events_->ops.size();
  const auto hot = [&](const auto& column) { return column.size() == size; };
  const auto cold = [&](const auto& column) { return column.empty() || column.size() == size; };
  return hot(events_->align_log2) && hot(events_->lane_of) && hot(events_->slots) &&
         hot(events_->sizes) && cold(events_->times_us) && cold(events_->threads) &&
         cold(events_->stacks) && cold(events_->tags) && cold(events_->addresses) &&
         cold(events_->ids) && cold(events_->freed_before) && cold(events_->upper_end);
}

const char* TraceGate::Walk::segment_fault(const SegmentInfo& segment) {
  if (segment.size == 0 || segment.size >= kMostBytes) return "a segment of no size";
  if (segment.address + segment.size < segment.address) return "a segment beyond 64 bits";
  Address at = segment.address;
  for (const BlockInfo& block : segment.blocks) {
    const bool fits =
        block.address == at && block.size > 0 && block.size <= segment.address + segment.size - at;
    if (!fits) return "blocks that do not tile their segment";
    if (block.requested > block.size) return "a block smaller than what was requested of it";
    at += block.size;
  }
  return at == segment.address + segment.size ? nullptr : "blocks that do not tile their segment";
}

const char* TraceGate::Walk::state_fault(const MemoryState& state) {
  Address end = 0;
  for (const SegmentInfo& segment : state.segments) {
    if (const char* what = segment_fault(segment)) return what;
    if (segment.address < end) return "segments that overlap";
    end = segment.address + segment.size;
  }
  return nullptr;
}

bool TraceGate::Walk::enter_start() {
  for (const SegmentInfo& segment : trace_.start.segments) {
    const AddressRange range{segment.address, segment.address + segment.size};
    if (segment.expandable) {
      mapped_.insert(range);
    } else {
      segments_.emplace(range.from, range.to);
    }
    if (!add_bytes(segment.size)) return false;
    for (const BlockInfo& block : segment.blocks) {
      if ((block.state == BlockState::free) != (block.slot == kNoSlot)) {
        return fails("a free block with a slot, or a live one without");
      }
      if (block.slot == kNoSlot) continue;
      if (block.slot >= blocks_.size() || blocks_[block.slot].life() != Life::unknown) {
        return fails("two blocks of one slot");
      }
      const bool pending = block.state == BlockState::pending;
      blocks_[block.slot] = {block.requested, pending ? Life::pending : Life::allocated};
    }
  }
  return true;
}

/// Nearly always: then no event needs a look at its own. Without an end ahead of the last one, many
/// are looked at together.
bool TraceGate::Walk::have_lanes_and_times() const {
  std::uint16_t highest = 0;
  for (const std::uint16_t lane : events_->lane_of) highest = std::max(highest, lane);
  std::uint64_t beyond = 0;  // from 2^63 on; of the latest time it is, too, which has its own look
  for (const std::int64_t us : events_->times_us) {
    beyond |= static_cast<std::uint64_t>(us) + static_cast<std::uint64_t>(kMostTime);
  }
  return is_lane(highest) && beyond >> 63 == 0;
}

bool TraceGate::Walk::fits(std::size_t event) {
  if (!is_lane(events_->lane_of[event])) return fails("a lane that there is not");
  if (!events_->times_us.empty() && !is_time(events_->times_us[event])) {
    return fails(no_time(events_->times_us[event]));
  }
  return true;
}

/// Plays allocations without an alignment, and frees at once, that are without fault: nearly all
/// events. Stops at the first other event, or after the last. Which of them one is cannot be
/// foreseen, and is no branch.
std::size_t TraceGate::Walk::play_usual(std::size_t event) {
  constexpr auto kGone = static_cast<unsigned>(Life::gone);
  constexpr auto kAllocated = static_cast<unsigned>(Life::allocated);
  const Op* const ops = events_->ops.data();
  const std::uint8_t* const aligns = events_->align_log2.data();
  const Slot* const slots = events_->slots.data();
  const Bytes* const sizes = events_->sizes.data();
  const std::size_t end = events_->ops.size();
  const std::span<Block> blocks = blocks_;
  // Hints, where there are so many blocks that to wait for one takes longer than all else.
  constexpr std::size_t kAhead = 16;
  constexpr std::size_t kFewBlocks = 1 << 15;
  const std::size_t hinted = blocks.size() > kFewBlocks ? end - std::min(end, kAhead) : 0;
  Bytes together = together_;
  for (; event < end; ++event) {
    if (event < hinted) {
      const std::size_t ahead = slots[event + kAhead];
      __builtin_prefetch(blocks.data() + std::min(ahead, blocks.size()), 1);
    }
    const Op op = ops[event];
    const Slot slot = slots[event];
    const Bytes size = sizes[event];
    if (op > Op::free || slot >= blocks.size() || size >= kMostBytes || aligns[event] != 0) break;
    const bool begins = op == Op::allocate;
    Block& block = blocks[slot];
    const bool is_held = (block.life() == Life::allocated) | (block.life() == Life::pending);
    const bool may_begin = begins & !is_held;
    const bool may_end = !begins & (block == Block(size, Life::allocated));
    const Bytes with_it = together + (size & (0 - Bytes{begins}));
    if (!(may_begin | may_end) || with_it > kBeyondDevices) break;
    together = with_it;
    block = {size, static_cast<Life>(kGone - begins * (kGone - kAllocated))};
  }
  together_ = together;
  return event;
}

bool TraceGate::Walk::step(std::size_t event) {
  const Op op = events_->ops[event];
  switch (op) {
    case Op::allocate:
      return allocate(event);
    case Op::free:
    case Op::free_requested:
    case Op::free_completed:
      return free(event);
    case Op::oom:
      if (has_addresses() && events_->addresses[event] >= kMostBytes) {
        return fails(too_large(events_->addresses[event]));
      }
      return add_bytes(events_->sizes[event]);
    case Op::empty_cache:
    case Op::marker:
    case Op::safe_frontier:
      return true;
    default:
      return driver_event(event);
  }
}

bool TraceGate::Walk::allocate(std::size_t event) {
  const Slot slot = events_->slots[event];
  const std::uint8_t log2 = events_->align_log2[event];
  const Bytes size = events_->sizes[event];
  if (log2 > kMostAlignLog2) return fails("an alignment beyond 1 TiB");
  if (size >= kMostBytes) return fails(too_large(size));
  if (has_addresses() && events_->addresses[event] + size < size) {
    return fails("a block that ends beyond 64 bits");
  }
  if (slot >= blocks_.size()) return fails("a slot that there is not");
  Block& block = blocks_[slot];
  if (block.life() == Life::allocated || block.life() == Life::pending) {
    return fails("the allocation of a block that is live already");
  }
  block = {size, Life::allocated};
  return add_bytes(size + (log2 == 0 ? 0 : Bytes{1} << log2));
}

bool TraceGate::Walk::free(std::size_t event) {
  const Slot slot = events_->slots[event];
  if (slot >= blocks_.size()) return fails("a slot that there is not");
  const Op op = events_->ops[event];
  Block& block = blocks_[slot];
  // It was there before, in no segment that is known.
  if (block.life() == Life::unknown && !trace_.coverage.starts_empty) {
    if (!add_bytes(events_->sizes[event])) return false;
    block = {events_->sizes[event], op == Op::free_completed ? Life::pending : Life::allocated};
  }
  if (block.life() != (op == Op::free_completed ? Life::pending : Life::allocated)) {
    return fails(op == Op::free_completed ? "the completed free of a block whose free was not "
                                            "requested"
                                          : "the free of a block that is not allocated");
  }
  if (block.size() != events_->sizes[event]) return fails("a free of other than the block's size");
  block = {block.size(), op == Op::free_requested ? Life::pending : Life::gone};
  return true;
}

bool TraceGate::Walk::is_apart(Address from, Address to) const {
  const auto next = segments_.lower_bound(to);
  if (next != segments_.begin() && std::prev(next)->second > from) return false;
  const auto range = mapped_.above(from);
  return !range || range->from >= to;
}

bool TraceGate::Walk::driver_event(std::size_t event) {
  const Op op = events_->ops[event];
  if (!has_addresses()) return fails("an event of the driver without an address");
  const Address from = events_->addresses[event];
  const Address to = from + events_->sizes[event];
  if (events_->sizes[event] >= kMostBytes) return fails(too_large(events_->sizes[event]));
  if (to <= from) return fails("a segment of no size, or beyond 64 bits");
  if (obtains_memory(op)) {
    if (!is_apart(from, to)) return fails("a segment where one is already");
    if (op == Op::segment_map) {
      mapped_.insert({from, to});
    } else {
      segments_.emplace(from, to);
    }
    return add_bytes(to - from);
  }
  if (op == Op::segment_unmap) return mapped_.erase({from, to}) || fails("no segment to unmap");
  const auto segment = segments_.find(from);
  if (segment == segments_.end() || segment->second != to) return fails("no segment to free");
  segments_.erase(segment);
  return true;
}

namespace {

void check_settings(const Recording& recording) {
  const auto& threshold = recording.settings.garbage_collection_threshold;
  if (threshold && !(*threshold >= 0 && *threshold < 1)) {
    throw InputError(recording.path, "allocator_settings",
                     fmt::format("garbage_collection_threshold is {}; expected a number from 0 to "
                                 "1, 1 excluded",
                                 *threshold));
  }
  const auto& max_split_size = recording.settings.max_split_size;
  if (max_split_size && *max_split_size < -1) {
    throw InputError(
        recording.path, "allocator_settings",
        fmt::format("max_split_size is {}; expected bytes, or -1 for no limit", *max_split_size));
  }
}

void check_trace(const Recording& recording, const Trace& trace) {
  std::string place = recording.traces.size() == 1 ? "" : gpu_label(trace.gpu);
  if (trace.gpu < kLowestDevice || trace.gpu >= kMostDevices) {
    throw InputError(recording.path, "",
                     fmt::format("device {}; expected a number from {} to {}", trace.gpu,
                                 kLowestDevice, kMostDevices - 1));
  }
  const std::optional<Fault> fault = fault_in(trace);
  if (!fault) return;
  if (!place.empty() && !fault->place.empty()) place += ", ";
  throw InputError(recording.path, place + fault->place, fault->what);
}

}  // namespace

TraceGate::TraceGate(const Trace& trace) : walk_(std::make_unique<Walk>(trace)) {
  fault_before_ = walk_->fault_before();
}

TraceGate::~TraceGate() = default;

std::optional<Fault> TraceGate::fault_in(const EventColumns& events) {
  return fault_before_ ? fault_before_ : walk_->fault_in(events);
}

std::optional<Fault> fault_in(const Trace& trace) { return TraceGate(trace).fault_in(trace); }

void check_recording(const Recording& recording) {
  check_settings(recording);
  for (const Trace& trace : recording.traces) check_trace(recording, trace);
  for (const Annotation& annotation : recording.annotations) {
    if (!is_time(annotation.time_us)) {
      throw InputError(recording.path, "external_annotations", no_time(annotation.time_us));
    }
  }
}

}  // namespace memreplay
