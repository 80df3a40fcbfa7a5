#include "extensions/minimise/story.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace memreplay {
namespace {

// The last block is the last event, too.
void add_late(EditableTrace& story, const std::vector<Bytes>& sizes) {
  EditableTrace::Block last = story.blocks.back();
  story.blocks.pop_back();
  for (const Bytes size : sizes) {
    story.blocks.push_back({.size = size, .born = last.born++, .lane = last.lane});
  }
  story.places = last.born + 1;
  story.blocks.push_back(last);
}

class EditableTraceBuilder {
 public:
  explicit EditableTraceBuilder(const Program& program)
      : program_(program), block_of_(program.slot_count, kNone), parked_(program.parkings, kNone) {
    story_.lanes.assign(program.lanes.begin(), program.lanes.end());
  }

  EditableTrace tell() {
    for (const Program::Block& block : program_.blocks) tell_start(block);
    auto act = program_.acts.begin();
    for (std::uint64_t event = 0; event < program_.size(); ++event) {
      for (; act != program_.acts.end() && act->before <= event; ++act) tell_act(*act);
      tell_event(event);
    }
    // What waits to the end is in use to the end.
    for (EditableTrace::Block& block : story_.blocks) {
      if (block.completed != EditableTrace::kNever) continue;
      story_.unfinished_frees += block.freed != EditableTrace::kNever;
      block.freed = EditableTrace::kNever;
    }
    return std::move(story_);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  EditableTrace::Place next() { return story_.places++; }

  std::uint16_t lane_number(const Request& request) {
    const StreamPool lane{request.stream, request.pool};
    const auto found = std::ranges::find(story_.lanes, lane);
    const auto number = static_cast<std::uint16_t>(found - story_.lanes.begin());
    if (found == story_.lanes.end()) story_.lanes.push_back(lane);
    return number;
  }

  void tell_start(const Program::Block& block) {
    if (block.request.size == 0) return;
    block_of_[block.slot] = story_.blocks.size();
    const std::uint16_t lane = lane_number(block.request);
    story_.blocks.push_back({.size = block.request.size, .born = next(), .lane = lane});
    if (!block.pending) return;
    story_.blocks.back().freed = next();
    story_.blocks.back().free_lane = lane;
  }

  void tell_act(const InferredCall& act) {
    switch (act.kind) {
      case InferredCall::Kind::complete:
        if (const std::size_t block = parked_[act.parked]; block != kNone) {
          story_.blocks[block].completed = next();
        }
        return;
      case InferredCall::Kind::empty_cache:
        return add_mark({.op = Op::empty_cache});
      case InferredCall::Kind::end_pool:
      case InferredCall::Kind::release_pool:
        ++story_.pool_ends;
        return;
      case InferredCall::Kind::park:
        parked_[act.parked] = std::exchange(block_of_[program_.slots[act.before]], kNone);
        return;
    }
  }

  void add_mark(EditableTrace::Mark mark) {
    mark.place = next();
    story_.marks.push_back(mark);
  }

  void tell_event(std::uint64_t event) {
    const Op op = program_.ops[event];
    const auto number = static_cast<std::uint32_t>(event);
    const std::uint16_t lane = program_.lane_of[event];
    if (is_request(op)) {
      if (program_.sizes[event] == 0) return;
      if (op == Op::allocate) block_of_[program_.slots[event]] = story_.blocks.size();
      story_.blocks.push_back({.size = program_.sizes[event],
                               .born = next(),
                               .lane = lane,
                               .free_lane = lane,
                               .align_log2 = program_.align_log2[event],
                               .event = number});
      if (op == Op::oom) story_.blocks.back().freed = story_.blocks.back().completed = next();
    } else if (op == Op::free || op == Op::free_requested || op == Op::free_completed) {
      tell_free(event, number);
    } else if (op == Op::empty_cache && program_.keeps_cache) {
      return;
    } else if (!is_driver_event(op)) {
      add_mark({.op = op, .size = program_.sizes[event], .lane = lane, .event = number});
    }
  }

  /// Whether the free requested by this event is completed by the next one.
  bool completes_at_once(std::uint64_t event) const {
    return program_.ops[event] == Op::free_requested &&
           program_.slots[event + 1] == program_.slots[event];
  }

  void tell_free(std::uint64_t event, std::uint32_t number) {
    std::size_t& index = block_of_[program_.slots[event]];
    if (index == kNone) return;
    EditableTrace::Block& block = story_.blocks[index];
    const Op op = program_.ops[event];
    if (op == Op::free_completed && event > 0 && completes_at_once(event - 1)) {
      block.completed = block.freed;
    } else {
      const EditableTrace::Place place = next();
      if (op != Op::free_requested) block.completed = place;
      if (op != Op::free_completed || !block.is_freed()) block.freed = place;
    }
    if (op != Op::free_completed) {
      block.free_lane = program_.lane_of[event];
      block.free_event = number;
    }
    if (op != Op::free_requested) index = kNone;
  }

  const Program& program_;
  EditableTrace story_;
  std::vector<std::size_t> block_of_;  ///< by slot
  std::vector<std::size_t> parked_;    ///< by number
};

/// What happens at a place.
struct Happening {
  Op op = Op::oom;  ///< a refusal: nothing happens
  std::uint32_t index = 0;
};

class Writer {
 public:
  Writer(const EditableTrace& story, const Trace& origin) : story_(story), origin_(origin) {}

  Trace write() {
    Trace& trace = trace_;
    trace.gpu = origin_.gpu;
    trace.lanes = story_.lanes;
    trace.streams = origin_.streams;
    trace.pools = origin_.pools;
    trace.slot_count = static_cast<Slot>(story_.blocks.size());
    for (const Happening& happening : in_order()) {
      if (happening.op != Op::oom) write(happening);
    }
    return std::move(trace_);
  }

 private:
  std::vector<Happening> in_order() const {
    std::vector<Happening> places(story_.places);
    for (std::uint32_t i = 0; i < story_.blocks.size(); ++i) {
      const EditableTrace::Block& block = story_.blocks[i];
      places[block.born] = {Op::allocate, i};
      if (!block.is_freed()) continue;
      places[block.freed] = {block.waits() ? Op::free_requested : Op::free, i};
      if (block.waits()) places[block.completed] = {Op::free_completed, i};
    }
    for (std::uint32_t i = 0; i < story_.marks.size(); ++i) {
      places[story_.marks[i].place] = {story_.marks[i].op, i};
    }
    return places;
  }

  void write(const Happening& happening) {
    const auto [op, index] = happening;
    if (op == Op::allocate) {
      const EditableTrace::Block& block = story_.blocks[index];
      add(op, index, block.size, block.lane, block.event, block.align_log2);
    } else if (op == Op::free || op == Op::free_requested || op == Op::free_completed) {
      const EditableTrace::Block& block = story_.blocks[index];
      add(op, index, block.size, block.free_lane, block.free_event, 0);
    } else {
      const EditableTrace::Mark& mark = story_.marks[index];
      add(op, kNoSlot, mark.size, mark.lane, mark.event, 0);
    }
  }

  void add(Op op, Slot slot, Bytes size, std::uint16_t lane, std::uint32_t event,
           std::uint8_t align_log2) {
    trace_.ops.push_back(op);
    trace_.slots.push_back(slot);
    trace_.sizes.push_back(size);
    trace_.lane_of.push_back(lane);
    trace_.align_log2.push_back(align_log2);
    take(origin_.threads, trace_.threads, event);
    take(origin_.tags, trace_.tags, event);
    take(origin_.freed_before, trace_.freed_before, event);
    take(origin_.upper_end, trace_.upper_end, event);
  }

  template <typename T>
  static void take(const std::vector<T>& from, std::vector<T>& to, std::uint32_t event) {
    if (!from.empty()) to.push_back(event == EditableTrace::kNoEvent ? T{} : from[event]);
  }

  const EditableTrace& story_;
  const Trace& origin_;
  Trace trace_;
};

}  // namespace

std::uint64_t EditableTrace::events() const {
  std::uint64_t count = blocks.size() + marks.size();
  for (const Block& block : blocks) {
    count +=
        static_cast<std::uint64_t>(block.is_freed()) + static_cast<std::uint64_t>(block.waits());
  }
  return count;
}

EditableTrace story_of(const Program& program) { return EditableTraceBuilder(program).tell(); }

Trace trace_of(const EditableTrace& story, const Trace& origin) {
  return Writer(story, origin).write();
}

void compact(EditableTrace& story) {
  std::vector<EditableTrace::Place> number(story.places, 0);
  for (const EditableTrace::Block& block : story.blocks) {
    number[block.born] = 1;
    if (!block.is_freed()) continue;
    number[block.freed] = 1;
    number[block.completed] = 1;
  }
  for (const EditableTrace::Mark& mark : story.marks) number[mark.place] = 1;
  EditableTrace::Place next = 0;
  for (EditableTrace::Place& place : number) {
    if (place != 0) place = next++;
  }
  for (EditableTrace::Block& block : story.blocks) {
    block.born = number[block.born];
    if (!block.is_freed()) continue;
    block.freed = number[block.freed];
    block.completed = number[block.completed];
  }
  for (EditableTrace::Mark& mark : story.marks) mark.place = number[mark.place];
  story.places = next;
  std::ranges::sort(story.blocks, {}, &EditableTrace::Block::born);
}

bool join(EditableTrace::Block& into, const EditableTrace::Block& other, Joint joint) {
  EditableTrace::Block joined = into;
  joined.size += other.size;
  if (!joint.born_first) joined.born = other.born;
  if (other.is_freed() && (other.freed > into.freed) == joint.freed_last) {
    std::tie(joined.freed, joined.completed) = std::pair(other.freed, other.completed);
    std::tie(joined.free_lane, joined.free_event) = std::pair(other.free_lane, other.free_event);
  }
  if (joined.is_freed() && joined.freed < joined.born) return false;
  into = joined;
  return true;
}

EditableTrace filled(EditableTrace story, const Filler& filler) {
  std::vector<EditableTrace::Block> blocks;
  const auto add = [&](Bytes size) {
    blocks.push_back({.size = size,
                      .born = static_cast<EditableTrace::Place>(blocks.size()),
                      .lane = story.blocks.back().lane});
  };
  const bool grows = story.blocks.size() > 1 && !story.blocks.front().is_freed();
  if (grows) story.blocks.front().size += filler.growth;
  if (!grows && filler.growth > 0) add(filler.growth);
  for (const Bytes size : filler.blocks) add(size);
  const auto shift = static_cast<EditableTrace::Place>(blocks.size());
  for (EditableTrace::Block& block : story.blocks) {
    block.born += shift;
    if (!block.is_freed()) continue;
    block.freed += shift;
    block.completed += shift;
  }
  for (EditableTrace::Mark& mark : story.marks) mark.place += shift;
  story.places += shift;
  story.blocks.insert(story.blocks.begin(), blocks.begin(), blocks.end());
  if (!filler.late.empty()) add_late(story, filler.late);
  return story;
}

}  // namespace memreplay
