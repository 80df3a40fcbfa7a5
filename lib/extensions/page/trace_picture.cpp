#include "extensions/page/trace_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "program/live_blocks.hpp"
#include "program/places.hpp"
#include "program/steps.hpp"

namespace memreplay {
namespace {

/// Numbers in the order in which they are asked for, from 1 on; what is nothing stays 0.
template <typename Old>
class Renumbering {
 public:
  std::uint32_t of(Old old) {
    if (old == Old{}) return 0;
    const auto [found, is_new] =
        numbers_.emplace(old, static_cast<std::uint32_t>(numbers_.size() + 1));
    if (is_new) old_.push_back(old);
    return found->second;
  }
  const std::vector<Old>& old() const { return old_; }

 private:
  std::map<Old, std::uint32_t> numbers_;
  std::vector<Old> old_;
};

/// A block that may still be in somebody's use.
struct Held {
  std::uint64_t born = 0;  ///< event + 1; 0: from before the trace
  Bytes requested = 0;
  StreamPool lane;
  Asker asker;
  Address address = 0;  ///< as recorded
  Slot slot = kNoSlot;
  bool pending = false;
};

Held requested_by(const Trace& trace, std::uint64_t event) {
  return {.born = event + 1,
          .requested = trace.sizes[event],
          .lane = trace.lane(event),
          .asker = asker_of(trace, event),
          .address = trace.addresses.empty() ? 0 : trace.addresses[event],
          .slot = trace.slots[event]};
}

/// What every slot holds before an event, the oldest first.
std::vector<Held> held_before(const Trace& trace, std::uint64_t event) {
  std::vector<Held> by_slot(trace.slot_count);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot == kNoSlot) continue;
      by_slot[block.slot] = {.requested = block.requested,
                             .lane = {segment.stream, segment.pool},
                             .asker = asker_of(trace, block),
                             .address = block.address,
                             .slot = block.slot,
                             .pending = block.state == BlockState::pending};
    }
  }
  for (std::uint64_t i = 0; i < event; ++i) {
    const Slot slot = trace.slots[i];
    if (slot == kNoSlot) continue;
    if (trace.ops[i] == Op::allocate) {
      by_slot[slot] = requested_by(trace, i);
    } else if (trace.ops[i] == Op::free_requested) {
      by_slot[slot].pending = true;
    } else {
      by_slot[slot].slot = kNoSlot;
    }
  }
  std::erase_if(by_slot, [](const Held& block) { return block.slot == kNoSlot; });
  std::ranges::stable_sort(by_slot, {}, &Held::born);
  return by_slot;
}

class Painter {
 public:
  Painter(const Subject& subject, EventWindow window)
      : recording_(subject.recording()),
        trace_(subject.trace()),
        block_of_slot_(trace_.slot_count, kUnknown) {
    picture_.events = trace_.size();
    picture_.window = window;
    picture_.known_lanes = trace_.lanes;
    for (const SegmentInfo& segment : trace_.start.segments) {
      lane_number({segment.stream, segment.pool});
    }
  }

  TracePicture paint() {
    for (const Held& block : held_before(trace_, picture_.window.from)) {
      picture_.early.push_back(block.slot);
      picture_.born.step(block.born);
      picture_.states.byte(block.pending ? 1 : 0);
      add(block, lane_number(block.lane));
    }
    for (std::uint64_t i = picture_.window.from; i < picture_.window.to; ++i) paint(i);
    name_lanes();
    name_stacks();
    picture_.texts.emplace_back();
    for (const std::uint32_t tag : tags_.old()) picture_.texts.push_back(recording_.texts[tag]);
    picture_.phases = annotated_phases(recording_, trace_);
    count_requests();
    return std::move(picture_);
  }

 private:
  static constexpr std::uint64_t kUnknown = UINT64_MAX;

  // No event need come from the lane of a block from before the trace.
  std::uint64_t lane_number(const StreamPool& lane) {
    std::vector<StreamPool>& lanes = picture_.known_lanes;
    const auto found = std::ranges::find(lanes, lane);
    const auto number = static_cast<std::uint64_t>(found - lanes.begin());
    if (found == lanes.end()) lanes.push_back(lane);
    return number;
  }

  void add(const Held& block, std::uint64_t lane) {
    block_of_slot_[block.slot] = picture_.blocks++;
    picture_.sizes.number(block.requested);
    picture_.lanes.number(lane);
    picture_.stacks.number(stacks_.of(shown(block.asker)));
    picture_.tags.number(tags_.of(block.asker.tag));
    if (!trace_.addresses.empty()) picture_.addresses.step(block.address);
  }

  // A tag says more than no stack; beside a stack it has a column of its own.
  static Asker shown(const Asker& asker) {
    return asker.stack != 0 ? Asker{.stack = asker.stack} : asker;
  }

  void add_other(std::uint64_t i) {
    const Held asked = requested_by(trace_, i);
    picture_.other_sizes.number(asked.requested);
    picture_.other_addresses.step(asked.address);
    picture_.other_lanes.number(trace_.lane_of[i]);
    picture_.other_stacks.number(stacks_.of(shown(asked.asker)));
    picture_.other_tags.number(tags_.of(asked.asker.tag));
  }

  void paint(std::uint64_t i) {
    const Op op = trace_.ops[i];
    const Slot slot = trace_.slots[i];
    picture_.ops.byte(static_cast<std::uint8_t>(op));
    if (!trace_.times_us.empty()) {
      picture_.times.step(static_cast<std::uint64_t>(trace_.times_us[i]));
    }
    switch (op) {
      case Op::allocate:
        add(requested_by(trace_, i), trace_.lane_of[i]);
        break;
      case Op::free:
      case Op::free_requested:
      case Op::free_completed: {
        const std::uint64_t block = block_of_slot_[slot];
        picture_.freed.number(block == kUnknown ? 0 : picture_.blocks - block);
        break;
      }
      default:
        add_other(i);
        break;
    }
  }

  void name_lanes() {
    for (const StreamPool& lane : picture_.known_lanes) {
      const PoolId pool = trace_.pools.empty() ? PoolId{} : trace_.pools[lane.pool];
      picture_.lane_names.push_back(
          {trace_.streams.empty() ? 0 : trace_.streams[lane.stream],
           pool == PoolId{} ? "" : fmt::format("({}, {})", pool.first, pool.second)});
    }
  }

  void name_stacks() {
    const Places places(recording_);
    Renumbering<std::uint32_t> frames;
    Renumbering<std::uint32_t> shown_places;
    picture_.stacks_shown.emplace_back();
    picture_.place_of_stack.push_back(0);
    for (const Asker& asker : stacks_.old()) {
      std::vector<std::uint32_t>& shown = picture_.stacks_shown.emplace_back();
      if (asker.stack != 0) {
        for (const std::uint32_t frame : recording_.stacks[asker.stack]) {
          shown.push_back(frames.of(frame + 1) - 1);
        }
      }
      picture_.place_of_stack.push_back(shown_places.of(places.of(asker)));
    }
    for (const std::uint32_t number : frames.old()) {
      const Frame& frame = recording_.frames[number - 1];
      picture_.frames.push_back(frame_text(recording_, frame));
      picture_.noise.push_back(is_noise(recording_, frame));
    }
    picture_.places.push_back(places.name(0));
    for (const std::uint32_t place : shown_places.old()) {
      picture_.places.push_back(places.name(place));
    }
  }

  void count_requests() {
    std::map<Bytes, RequestClass> classes;
    for (std::uint64_t i = 0; i < trace_.size(); ++i) {
      const Bytes size = trace_.sizes[i];
      if (trace_.ops[i] != Op::allocate || size == 0) continue;
      RequestClass& sized = classes[std::bit_floor(size)];
      sized.from = std::bit_floor(size);
      ++sized.requests;
      sized.bytes += size;
    }
    for (const auto& [from, sized] : classes) picture_.request_classes.push_back(sized);
  }

  const Recording& recording_;
  const Trace& trace_;
  std::vector<std::uint64_t> block_of_slot_;
  Renumbering<Asker> stacks_;
  Renumbering<std::uint32_t> tags_;
  TracePicture picture_;
};

}  // namespace

EventWindow window_of_interest(const Trace& trace, std::uint64_t most) {
  const std::uint64_t events = trace.size();
  if (events <= most) return {0, events};
  const auto refused = std::ranges::find(trace.ops, Op::oom);
  const std::uint64_t behind = refused != trace.ops.end()
                                   ? static_cast<std::uint64_t>(refused - trace.ops.begin()) + 1
                                   : requested_peak(trace);
  const std::uint64_t to = std::clamp(behind + most / 10, most, events);
  return {to - most, to};
}

TracePicture picture_of(const Subject& subject, EventWindow window) {
  return Painter(subject, window).paint();
}

PlaceRecorder::PlaceRecorder(const Trace& trace, const TracePicture& picture, const DeviceLog& log)
    : trace_(trace),
      window_(picture.window),
      early_(picture.early),
      lanes_(picture.known_lanes),
      log_(log),
      by_slot_(trace.slot_count),
      block_of_slot_(trace.slot_count, UINT64_MAX) {
  blocks_.reserve(picture.blocks);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot != kNoSlot) by_slot_[block.slot].requested = block.requested;
    }
  }
}

void PlaceRecorder::on_start_block(Slot slot, const Placement& block) {
  by_slot_[slot].address = block.address;
  by_slot_[slot].charged = block.size;
}

void PlaceRecorder::on_start(const EventState& state, const Strategy& strategy) {
  if (state.event > 0) return;
  placed_.keeps_places = !strategy.usage().moves_blocks();
  for (const SegmentInfo& segment : strategy.memory_state().segments) {
    const Op op = segment.expandable ? Op::segment_map : Op::segment_alloc;
    regions_.push_back(
        {0, {op, segment.address, segment.size}, lane_number({segment.stream, segment.pool})});
  }
  placed_.early_regions = regions_.size();
  device_events_ = log_.events().size();
  reserved_.push_back({0, state.reserved});
  peak_ = state.peak_reserved;
  if (window_.from == 0) begin_window();
}

void PlaceRecorder::begin_window() {
  for (const Slot slot : early_) {
    block_of_slot_[slot] = blocks_.size();
    blocks_.push_back(by_slot_[slot]);
  }
}

void PlaceRecorder::on_late_completion(std::uint64_t event, const Placement& block) {
  const auto found = completes_.find(block.address);
  if (found == completes_.end()) return;
  if (event < window_.to) {
    placed_.late_events.step(event);
    placed_.late_blocks.number(found->second);
  }
  completes_.erase(found);
}

void PlaceRecorder::on_event(const EventState& state, const Strategy&) {
  if (!placed_.keeps_places || state.event >= window_.to) return;
  if (state.event == window_.from && state.event > 0) begin_window();
  follow_block(state);
  follow_device(state);
}

void PlaceRecorder::follow_block(const EventState& state) {
  const Op op = trace_.ops[state.event];
  const Slot slot = trace_.slots[state.event];
  const bool shown = window_.from <= state.event;
  if (op == Op::allocate) {
    Place& place = by_slot_[slot];
    place = {.requested = trace_.sizes[state.event]};
    if (state.placement) on_start_block(slot, *state.placement);
    if (!shown) return;
    block_of_slot_[slot] = blocks_.size();
    blocks_.push_back(place);
  } else if (op == Op::free_completed && !state.placement && by_slot_[slot].address && shown) {
    completes_[*by_slot_[slot].address] = block_of_slot_[slot];
  }
}

std::uint64_t PlaceRecorder::lane_number(const StreamPool& lane) const {
  const auto found = std::ranges::find(lanes_, lane);
  return found == lanes_.end() ? 0 : static_cast<std::uint64_t>(found - lanes_.begin()) + 1;
}

void PlaceRecorder::follow_device(const EventState& state) {
  const bool asks = trace_.ops[state.event] == Op::allocate;
  const std::uint64_t lane = asks ? trace_.lane_of[state.event] + std::uint64_t{1} : 0;
  for (; device_events_ < log_.events().size(); ++device_events_) {
    regions_.push_back({state.event, log_.events()[device_events_], lane});
  }
  const Bytes before = reserved_.back().bytes;
  if (state.reserved != before) reserved_.push_back({state.event, state.reserved});
  if (state.peak_reserved > std::max({peak_, before, state.reserved})) {
    within_.push_back({state.event, state.peak_reserved});
  }
  peak_ = state.peak_reserved;
}

// All addresses are multiples of the unit, counted from the lowest.
void PlaceRecorder::find_unit() {
  Address lowest = UINT64_MAX;
  for (const Place& block : blocks_) lowest = std::min(lowest, block.address.value_or(lowest));
  for (const Region& region : regions_) lowest = std::min(lowest, region.what.address);
  Bytes unit = 0;
  const auto divide = [&](Bytes distance) {
    if (unit == 0 || distance % unit != 0) unit = std::gcd(unit, distance);
  };
  for (const Place& block : blocks_) divide(block.address.value_or(lowest) - lowest);
  for (const Region& region : regions_) divide(region.what.address - lowest);
  placed_.base = lowest == UINT64_MAX ? 0 : lowest;
  placed_.unit = std::max<Bytes>(unit, 1);
}

PlacedBlocks PlaceRecorder::finish() {
  if (!placed_.keeps_places) return std::move(placed_);
  find_unit();
  for (const Place& block : blocks_) {
    placed_.places.number(block.address ? (*block.address - placed_.base) / placed_.unit + 1 : 0);
    if (!block.address) continue;
    placed_.charges.signed_number(static_cast<std::int64_t>(block.charged - block.requested));
  }
  for (const Region& region : regions_) {
    placed_.region_events.step(region.event);
    placed_.region_ops.byte(static_cast<std::uint8_t>(region.what.op));
    placed_.region_addresses.number((region.what.address - placed_.base) / placed_.unit);
    placed_.region_bytes.number(region.what.bytes);
    placed_.region_lanes.number(region.lane);
  }
  for (const Held& held : reserved_) {
    placed_.reserved_events.step(held.event);
    placed_.reserved_bytes.step(held.bytes);
  }
  for (const Held& held : within_) {
    placed_.within_events.step(held.event);
    placed_.within_bytes.step(held.bytes);
  }
  return std::move(placed_);
}

}  // namespace memreplay
