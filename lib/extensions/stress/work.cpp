#include "extensions/stress/work.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "extensions/minimise/story.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoRow = UINT32_MAX;
/// A stretch is busy while more than this part of the most lives.
constexpr std::int64_t kBusyPart = 16;

/// Numbers that are used again, the last given back first.
class SlotNumbers {
 public:
  explicit SlotNumbers(Slot first = 0) : next_(first) {}

  Slot take() {
    if (free_.empty()) return next_++;
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }
  Slot above_all() const { return next_; }

 private:
  Slot next_;
  std::vector<Slot> free_;
};

class Cutter {
 public:
  Cutter(const Program& program, const Trace& trace, std::span<const std::uint64_t> begins)
      : program_(program), trace_(trace), begins_(begins), story_(story_of(program)) {}

  Work cut() {
    take_rows();
    find_steps_of_rows();
    program_ends_ = std::ranges::any_of(blocks_, [&](const Block& block) {
      return step_of_[block.born] == 0 && freed_last(block);
    });
    find_end();
    for (std::uint32_t i = 0; i < story_.blocks.size(); ++i) classify(i);
    take_start();
    count_rows_of_steps();
    place_rows();
    finish();
    return std::move(work_);
  }

 private:
  /// Where a block's events are played.
  enum class Kind : std::uint8_t { own, crossing, bound };
  struct Block {
    std::uint32_t born = kNoRow, freed = kNoRow, completed = kNoRow;  ///< rows
    Kind kind = Kind::own;
    Slot slot = kNoSlot;    ///< while it lives; bound ones keep it
    std::size_t birth = 0;  ///< a crossing one's index in its step's births
  };

  void take_rows() {
    Trace told = trace_of(story_, trace_);
    work_.rows = std::move(static_cast<EventColumns&>(told));
    work_.gpu = trace_.gpu;
    work_.lanes = story_.lanes;
    work_.streams = trace_.streams;
    work_.pools = trace_.pools;
    work_.pool_ends = story_.pool_ends;
    work_.unfinished_frees = story_.unfinished_frees;
    work_.rows.freed_before.clear();
    blocks_.resize(story_.blocks.size());
    for (std::uint32_t row = 0; row < size(); ++row) {
      if (work_.rows.slots[row] == kNoSlot) continue;
      Block& block = blocks_[work_.rows.slots[row]];
      switch (work_.rows.ops[row]) {
        case Op::allocate:
          block.born = last_request_ = row;
          break;
        case Op::free_completed:
          block.completed = row;
          break;
        default:
          block.freed = row;
          break;
      }
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(work_.rows.ops.size()); }

  std::uint32_t event_of(std::uint32_t row) const {
    const Slot slot = work_.rows.slots[row];
    if (slot == kNoSlot) return story_.marks[next_mark_].event;
    const EditableTrace::Block& block = story_.blocks[slot];
    if (work_.rows.ops[row] == Op::allocate) return block.event;
    return work_.rows.ops[row] == Op::free_completed ? EditableTrace::kNoEvent : block.free_event;
  }

  // What no event of its own tells happens where the events around it do.
  void find_steps_of_rows() {
    for (const Program::Block& block : program_.blocks) {
      if (block.request.size == 0) continue;
      const EditableTrace::Block& told = story_.blocks[start_blocks_++];
      start_rows_ += 1 + static_cast<std::uint32_t>(block.pending && told.waits());
    }
    step_of_.resize(size(), 0);
    std::uint32_t step = 0;
    for (std::uint32_t row = start_rows_; row < size(); ++row) {
      const std::uint32_t event = event_of(row);
      next_mark_ += static_cast<std::size_t>(work_.rows.slots[row] == kNoSlot);
      if (event != EditableTrace::kNoEvent) {
        while (step < begins_.size() && begins_[step] <= event) ++step;
      }
      step_of_[row] = step;
    }
  }

  void find_end() {
    std::vector<std::uint8_t> asks(begins_.size() + 1, 0);  // by step
    std::vector<std::uint8_t> leaves(begins_.size() + 1, 0);
    for (const Block& block : blocks_) {
      if (block.born < start_rows_) continue;
      asks[step_of_[block.born]] = 1;
      if (block.freed == kNoRow) leaves[step_of_[block.born]] = 1;
    }
    std::size_t steps = begins_.size();
    while (steps > 0 && asks[steps] == 0) --steps;
    work_.last_step_stays = steps > 0 && leaves[steps] != 0;
    if (work_.last_step_stays) --steps;
    work_.steps.resize(steps);
    work_.places = steps;
    work_.bound.resize(steps + 2);
    for (std::uint32_t& step : step_of_) step = std::min(step, end());
  }

  std::uint32_t end() const { return static_cast<std::uint32_t>(work_.steps.size() + 1); }
  bool is_step(std::uint32_t step) const { return step > 0 && step < end(); }
  WorkStep& part(std::uint32_t step) {
    if (step == 0) return work_.beginning;
    return step == end() ? work_.end : work_.steps[step - 1];
  }
  static std::uint32_t gone(const Block& block) {
    return block.completed != kNoRow ? block.completed : block.freed;
  }

  /// Freed when nothing is requested any more.
  bool freed_last(const Block& block) const {
    return gone(block) != kNoRow && gone(block) > last_request_;
  }
  /// Freed by the end of the program, where that of what was there before the steps shows one.
  bool stays(const Block& block) const { return program_ends_ && freed_last(block); }

  void classify(std::uint32_t number) {
    Block& block = blocks_[number];
    const std::uint32_t event = story_.blocks[number].event;
    if (event != EditableTrace::kNoEvent && program_.ops[event] == Op::oom) {
      // Refused when it was recorded: asked for once more.
      work_.rows.ops[block.born] = Op::oom;
      work_.rows.slots[block.born] = kNoSlot;
      work_.rows.slots[block.freed] = kNoSlot;
      work_.rows.ops[block.freed] = Op::safe_frontier;  // nothing
      return;
    }
    const Bytes size = story_.blocks[number].size;
    const std::uint32_t born = step_of_[block.born];
    if (!is_step(born)) {
      block.kind = Kind::bound;
    } else if (gone(block) == kNoRow || (step_of_[gone(block)] != born && stays(block))) {
      block.kind = Kind::bound;
      ++work_.lasting_blocks;
      work_.lasting_bytes += size;
    } else if (step_of_[gone(block)] != born) {
      block.kind = Kind::crossing;
      ++work_.crossing_blocks;
      work_.crossing_bytes += size;
    }
  }

  void take_start() {
    if (program_.starts_cold) return;
    work_.start = trace_.start;
    work_.starts_empty = trace_.coverage.starts_empty;
    Slot next = 0;
    std::size_t number = 0;
    for (SegmentInfo& segment : work_.start.segments) {
      for (BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::free) continue;
        if (block.requested != 0) blocks_[number++].slot = next;
        block.slot = next++;
      }
    }
    bound_slots_ = SlotNumbers(next);
  }

  bool says_nothing(std::uint32_t row) const {
    return row < start_rows_ || work_.rows.ops[row] == Op::safe_frontier;
  }

  /// Where the row is an event of its part, and not one that other parts see.
  bool is_of_part(std::uint32_t row) const {
    const Slot slot = work_.rows.slots[row];
    const bool step = is_step(step_of_[row]);
    if (slot == kNoSlot) return true;
    switch (blocks_[slot].kind) {
      case Kind::own:
        return true;
      case Kind::crossing:
        return work_.rows.ops[row] == Op::allocate;
      case Kind::bound:
        break;
    }
    return !step;
  }

  void count_rows_of_steps() {
    sizes_.resize(end() + 1, 0);
    for (std::uint32_t row = 0; row < size(); ++row) {
      if (!says_nothing(row)) sizes_[step_of_[row]] += is_of_part(row) ? 1 : 0;
    }
  }

  void place_rows() {
    for (std::uint32_t row = 0; row < size(); ++row) {
      if (says_nothing(row)) continue;
      const std::uint32_t step = step_of_[row];
      if (step != at_step_) begin_step(step);
      if (is_of_part(row)) {
        add_event(step, row);
      } else {
        const Block& block = blocks_[work_.rows.slots[row]];
        block.kind == Kind::bound ? add_bound(step, row) : add_parting(step, row);
      }
    }
  }

  void begin_step(std::uint32_t step) {
    if (is_step(at_step_)) part(at_step_).own_slots = own_slots_.above_all();
    own_slots_ = SlotNumbers();
    at_step_ = step;
  }

  void add_event(std::uint32_t step, std::uint32_t row) {
    WorkStep& to = part(step);
    append_event(work_.rows, row, to.events);
    const Slot number = work_.rows.slots[row];
    if (number == kNoSlot) return;
    Block& block = blocks_[number];
    const bool born = work_.rows.ops[row] == Op::allocate;
    if (block.kind == Kind::crossing) {
      block.birth = to.births.size();
      to.births.push_back({static_cast<std::uint32_t>(to.size() - 1), {}});
      to.events.slots.back() = kNoSlot;
      return;
    }
    SlotNumbers& slots = block.kind == Kind::own ? own_slots_ : bound_slots_;
    if (born) block.slot = slots.take();
    to.events.slots.back() = block.slot;
    if (row == gone(block)) slots.give_back(block.slot);
  }

  PlaceInStep place(std::uint32_t step) {
    return {static_cast<std::uint32_t>(part(step).size()), sizes_[step]};
  }

  void add_bound(std::uint32_t step, std::uint32_t row) {
    Block& block = blocks_[work_.rows.slots[row]];
    if (work_.rows.ops[row] == Op::allocate) block.slot = bound_slots_.take();
    work_.bound[step].push_back({place(step), row, block.slot});
  }

  void add_parting(std::uint32_t step, std::uint32_t row) {
    const Block& block = blocks_[work_.rows.slots[row]];
    const std::uint32_t born = step_of_[block.born];
    part(born).births[block.birth].partings.push_back(
        {step - born, place(step), row, row == gone(block)});
  }

  void finish() {
    begin_step(UINT32_MAX);
    work_.bound_slots = bound_slots_.above_all();
    for (const EditableTrace::Mark& mark : story_.marks) {
      work_.frontiers += mark.op == Op::safe_frontier ? 1 : 0;
    }
  }

  const Program& program_;
  const Trace& trace_;
  std::span<const std::uint64_t> begins_;
  EditableTrace story_;
  Work work_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> step_of_;  ///< by row
  std::vector<std::uint32_t> sizes_;    ///< events of each part
  std::size_t start_blocks_ = 0;
  std::uint32_t start_rows_ = 0;    ///< tell what was there before
  std::uint32_t last_request_ = 0;  ///< row
  bool program_ends_ = false;
  std::size_t next_mark_ = 0;
  std::uint32_t at_step_ = 0;
  SlotNumbers own_slots_;
  SlotNumbers bound_slots_;
};

/// Bytes of the blocks that are freed at all, after each event.
std::vector<std::int64_t> passing_bytes(const Program& program) {
  std::vector<std::int64_t> bytes(program.size(), 0);
  std::vector<std::uint64_t> born(program.slot_count, 0);
  for (std::uint64_t event = 0; event < program.size(); ++event) {
    const Op op = program.ops[event];
    if (op == Op::allocate) born[program.slots[event]] = event;
    if (op != Op::free && op != Op::free_requested) continue;
    const auto size = static_cast<std::int64_t>(program.sizes[event]);
    bytes[born[program.slots[event]]] += size;
    bytes[event] -= size;
  }
  for (std::uint64_t event = 1; event < program.size(); ++event) bytes[event] += bytes[event - 1];
  return bytes;
}

template <typename T>
std::size_t number_in(std::vector<T>& all, const T& one) {
  const auto found = std::ranges::find(all, one);
  const auto number = static_cast<std::size_t>(found - all.begin());
  if (found == all.end()) all.push_back(one);
  return number;
}

// Streams and pools that only the other one has are added at the end.
std::uint16_t lane_in(const Work& other, StreamPool lane, Work& work) {
  if (lane.stream < other.streams.size()) {
    lane.stream = static_cast<StreamIndex>(number_in(work.streams, other.streams[lane.stream]));
  }
  if (lane.pool < other.pools.size()) {
    lane.pool = static_cast<PoolIndex>(number_in(work.pools, other.pools[lane.pool]));
  }
  return static_cast<std::uint16_t>(number_in(work.lanes, lane));
}

/// In the columns of `like`.
void append_events(const EventColumns& from, std::span<const std::uint16_t> lanes,
                   const EventColumns& like, EventColumns& to) {
  const std::size_t before = to.ops.size();
  const std::size_t after = before + from.ops.size();
  for_each_column([&](auto column) {
    if ((like.*column).empty()) return;
    const auto& further = from.*column;
    (to.*column).insert((to.*column).end(), further.begin(), further.end());
    (to.*column).resize(after);
  });
  for (std::size_t i = before; i < after; ++i) to.lane_of[i] = lanes[to.lane_of[i]];
  if (!to.tags.empty())
    std::fill(to.tags.begin() + static_cast<std::ptrdiff_t>(before), to.tags.end(), 0u);
}

}  // namespace

Work work_of(const Program& program, const Trace& trace, std::span<const std::uint64_t> begins) {
  return Cutter(program, trace, begins).cut();
}

std::size_t add_steps(const Work& other, Work& work) {
  std::vector<std::uint16_t> lanes;
  for (const StreamPool& lane : other.lanes) lanes.push_back(lane_in(other, lane, work));
  const auto first_row = static_cast<std::uint32_t>(work.rows.ops.size());
  append_events(other.rows, lanes, work.rows, work.rows);
  for (const WorkStep& step : other.steps) {
    WorkStep& added = work.steps.emplace_back();
    append_events(step.events, lanes, work.rows, added.events);
    added.own_slots = step.own_slots;
    added.births = step.births;
    for (WorkStep::Birth& birth : added.births) {
      for (WorkStep::Parting& parting : birth.partings) parting.row += first_row;
    }
  }
  return other.steps.size();
}

std::vector<std::uint64_t> begins_where_little_lives(const Program& program) {
  const std::vector<std::int64_t> bytes = passing_bytes(program);
  std::vector<std::uint64_t> begins;
  if (bytes.empty()) return begins;
  const std::int64_t busy = *std::ranges::max_element(bytes) / kBusyPart;
  std::int64_t lowest = INT64_MAX;
  std::uint64_t lowest_at = 0;
  bool quiet = true;
  for (std::uint64_t event = 0; event < bytes.size(); ++event) {
    if (bytes[event] > busy) {
      if (quiet) begins.push_back(lowest == INT64_MAX ? 0 : lowest_at + 1);
      quiet = false;
      lowest = INT64_MAX;
      continue;
    }
    quiet = true;
    if (bytes[event] > lowest) continue;
    lowest = bytes[event];
    lowest_at = event;
  }
  return begins;
}

}  // namespace memreplay
