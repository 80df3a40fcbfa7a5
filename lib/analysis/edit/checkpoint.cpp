#include "analysis/edit/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/edit/code_instances.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNone = BlockLives::kNone;

/// Layers that are checkpointed as one, by positions in the list of allocations.
struct Segment {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t step = 0;

  std::uint32_t output = kNone;                  ///< block
  std::vector<std::uint32_t> blocks;             ///< asked for in it, by birth
  std::vector<bool> saved;                       ///< by block: its backward frees it
  std::uint64_t first_free = BlockLife::kNever;  ///< of what is saved
  std::uint64_t last_free = 0;
  std::uint64_t again = BlockLife::kNever;  ///< the request before which it is computed again
  bool saves_output = false;                ///< its own backward needs the output
};

std::vector<Segment> segments_of(const std::vector<CodeInstance>& instances,
                                 const CheckpointEdit& edit) {
  std::vector<Segment> segments;
  for (std::size_t from = 0, to = 0; from < instances.size(); from = to) {
    while (to < instances.size() && instances[to].run == instances[from].run &&
           instances[to].step == instances[from].step) {
      ++to;
    }
    const std::size_t count = to - from;
    const std::size_t size =
        edit.segments ? std::max<std::size_t>(count / *edit.segments, 1) : edit.group;
    const std::size_t checkpointed =
        edit.segments ? std::min<std::size_t>(*edit.segments - 1, count / size) * size : count;
    for (std::size_t i = 0; i < checkpointed; i += size) {
      if (edit.only && instances[from + i].place % *edit.only != 0) continue;
      const std::size_t end = std::min(i + size, checkpointed);
      segments.push_back({.first = instances[from + i].first,
                          .last = instances[from + end - 1].last,
                          .step = instances[from].step});
    }
  }
  return segments;
}

/// What asked so is an operation whose backward needs the shape of its input alone.
bool needs_no_input(const Recording& recording, std::uint32_t stack) {
  constexpr std::string_view kOperations[] = {"interpolate",       "upsample",  "upsample_nearest",
                                              "upsample_bilinear", "dropout",   "dropout1d",
                                              "dropout2d",         "dropout3d", "pad"};
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t number) {
    const Frame& frame = recording.frames[number];
    return recording.texts[frame.file].ends_with("torch/nn/functional.py") &&
           std::ranges::find(kOperations, recording.texts[frame.name]) != std::end(kOperations);
  });
}

class Checkpointing {
 public:
  Checkpointing(const Recording& recording, const Trace& trace, const Edit& edit,
                const CheckpointGuess& guess)
      : recording_(recording),
        trace_(trace),
        edit_(edit),
        how_(std::get<CheckpointEdit>(edit.what)),
        guess_(guess),
        passes_(recording, trace),
        lives_(lives_of(trace)),
        rewrite_(trace, lives_) {
    for (std::uint64_t event = 0; event < trace.size(); ++event) {
      if (trace.ops[event] == Op::allocate) allocations_.push_back(event);
      ended_by_oom_ |= trace.ops[event] == Op::oom;
    }
    operations_ = memreplay::operations_of(trace, lives_, allocations_);
  }

  Checkpointed make() {
    find_segments();
    for (Segment& segment : segments_) look_at(segment);
    decide_saved_outputs();
    for (Segment& segment : segments_) {
      if (is_checkpointed(segment)) place(segment);
    }
    for (const Segment& segment : segments_) {
      if (is_checkpointed(segment)) apply(segment);
    }
    if (facts_.blocks == 0) {
      throw UsageError(fmt::format(
          "--edit {}: {}", edit_.text,
          instances_ == 0 ? "no stack of this recording has that code"
                          : "nothing that this code asks for is freed by a backward pass"));
    }
    facts_.edit = edit_.text;
    return {rewrite_.write(), std::move(facts_), open_};
  }

 private:
  void find_segments() {
    const auto instances = instances_of(recording_, trace_, allocations_, passes_, edit_.selector);
    instances_ = instances.size();
    segments_ = segments_of(instances, how_);
    // A step's backward begins behind its last instance.
    for (const CodeInstance& instance : instances) {
      if (backward_.size() <= instance.step) backward_.resize(instance.step + 1, 0);
      std::uint32_t next = instance.last;
      while (next < allocations_.size() && !is_backward(next)) ++next;
      backward_[instance.step] = next;
    }
  }

  bool is_backward(std::uint32_t allocation) const {
    return passes_.is_backward(stack_at(trace_, allocations_[allocation]));
  }

  /// Of the allocation, or of the end of the trace.
  std::uint64_t event_of(std::size_t allocation) const {
    return allocation < allocations_.size() ? allocations_[allocation] : trace_.size();
  }

  std::uint32_t block_of(std::size_t allocation) const {
    return lives_.block_of[allocations_[allocation]];
  }

  const BlockLife& life(std::uint32_t block) const { return lives_.blocks[block]; }

  std::uint64_t backward_event(const Segment& segment) const {
    return event_of(backward_[segment.step]);
  }

  /// Where a program died in its last step, what was not freed by then is saved as well.
  bool is_freed_by_backward(const Segment& segment, const BlockLife& life) const {
    if (life.freed != BlockLife::kNever) return life.freed >= backward_event(segment);
    return ended_by_oom_ && segment.step + 1 == backward_.size();
  }

  /// The largest of the last operation's blocks among those that are alive at an allocation; of
  /// equal ones the latest. kNone where there is none in [from, to).
  std::uint32_t value_at(std::size_t from, std::size_t to, std::size_t at) const {
    const std::uint64_t event = event_of(at);
    std::uint32_t value = kNone;
    std::uint32_t operation = 0;
    for (std::size_t i = to; i-- > from;) {
      const BlockLife& candidate = life(block_of(i));
      if (!candidate.alive_at(event)) continue;
      if (value != kNone && operations_[i] != operation) break;
      if (value == kNone || candidate.size > life(value).size) value = block_of(i);
      operation = operations_[i];
    }
    return value;
  }

  void look_at(Segment& segment) {
    segment.output = value_at(segment.first, segment.last, segment.last);
    for (std::uint32_t i = segment.first; i < segment.last; ++i) {
      const std::uint32_t block = block_of(i);
      segment.blocks.push_back(block);
      const bool saved = block != segment.output && is_freed_by_backward(segment, life(block));
      segment.saved.push_back(saved);
      if (!saved || life(block).freed == BlockLife::kNever) continue;
      segment.first_free = std::min(segment.first_free, life(block).freed);
      segment.last_free = std::max(segment.last_free, life(block).freed);
    }
  }

  static bool is_checkpointed(const Segment& segment) {
    return std::ranges::find(segment.saved, true) != segment.saved.end();
  }

  bool has_backward(const Segment& segment) const {
    return segment.first_free != BlockLife::kNever;
  }

  // The first request behind an event.
  std::uint64_t request_behind(std::uint64_t event) const {
    const auto next = std::ranges::upper_bound(allocations_, event);
    return next == allocations_.end() ? trace_.size() : *next;
  }

  /// Before what the segment's backward first asks for: behind the last free, before the first one
  /// of its own, of what was asked for behind it.
  std::uint64_t backward_of(const Segment& segment) const {
    const std::uint64_t begin = backward_event(segment);
    std::uint64_t last = begin;
    const std::uint64_t from = event_of(segment.last);
    for (std::uint64_t event = begin; event < segment.first_free; ++event) {
      const std::uint32_t block = lives_.block_of[event];
      if (block == kNone || life(block).freed != event || life(block).existed_before()) continue;
      if (life(block).born >= from && life(block).born < begin) last = event;
    }
    return request_behind(last);
  }

  // Consumers differ, so that single instances may deceive: the majority of those that asked with
  // one stack decides.
  void decide_saved_outputs() {
    std::map<std::uint32_t, int> votes;
    for (Segment& segment : segments_) {
      if (!is_checkpointed(segment) || !has_backward(segment)) continue;
      segment.again = backward_of(segment);
      if (segment.output == kNone) continue;
      const BlockLife& output = life(segment.output);
      if (output.freed == BlockLife::kNever) continue;
      votes[output.stack] += output.freed > segment.again ? 1 : -1;
    }
    for (Segment& segment : segments_) {
      if (segment.output == kNone || !has_backward(segment)) continue;
      const auto vote = votes.find(life(segment.output).stack);
      segment.saves_output = vote != votes.end() && vote->second > 0;
    }
  }

  void place(Segment& segment) {
    if (!has_backward(segment) || segment.output == kNone) return;
    const std::uint64_t freed = life(segment.output).freed;
    if (freed == BlockLife::kNever) return;
    if (segment.saves_output) {
      const auto next = std::ranges::lower_bound(allocations_, freed);
      if (next != allocations_.begin()) segment.again = *std::prev(next);
      segment.again = std::max(segment.again, backward_event(segment));
    } else if (freed > segment.again && freed < segment.first_free) {
      segment.again = request_behind(freed);
    }
  }

  void apply(const Segment& segment) {
    const std::uint64_t end = event_of(segment.last);
    Bytes bytes = 0;
    for (const Death& death :
         deaths_of(recording_, lives_, {segment.blocks, operations_of(segment)}, segment.saved, end,
                   guess_.deaths)) {
      rewrite_.free_at(death.block, death.spot);
      ++facts_.blocks;
      bytes += life(death.block).size;
    }
    facts_.bytes += bytes;
    facts_.largest_segment = std::max(facts_.largest_segment, bytes);
    hold_input(segment);
    if (has_backward(segment)) compute_again(segment);
  }

  std::span<const std::uint32_t> operations_of(const Segment& segment) const {
    return std::span(operations_).subspan(segment.first, segment.last - segment.first);
  }

  // What its caller gave it is needed to compute it again.
  void hold_input(const Segment& segment) {
    if (segment.first == 0) return;
    const std::uint32_t input = value_at(0, segment.first, segment.first);
    if (input == kNone || !has_backward(segment)) return;
    const std::uint64_t from = event_of(segment.first);
    const std::uint64_t freed = life(input).freed;
    if (freed >= from && freed < backward_event(segment)) {
      rewrite_.free_at(input, {segment.last_free, 0});
    }
  }

  void compute_again(const Segment& segment) {
    std::size_t stop = segment.blocks.size();
    if (!how_.reentrant) {
      while (stop > 0 && !comes_back(segment, stop - 1)) --stop;
    }
    if (stop == 0) return;
    const std::uint64_t stop_event = life(segment.blocks[stop - 1]).born;
    std::vector<Happening> events;
    for (std::size_t i = 0; i < stop; ++i) add_again(segment, i, stop_event, events);
    std::ranges::stable_sort(events, {}, &Happening::event);
    std::uint32_t order = kAgain;
    for (const Happening& happening : events) {
      const Spot spot{segment.again, order++};
      if (happening.begins) {
        const std::uint32_t like = segment.blocks[happening.block];
        copies_[like] = rewrite_.add(like, life(like).size, spot);
        facts_.recomputed_bytes += life(like).size;
        ++facts_.recomputed_requests;
      } else {
        rewrite_.free_at(copies_.at(segment.blocks[happening.block]), spot);
      }
    }
    for (std::size_t i = 0; i < stop; ++i) end_copy(segment, i, order);
    end_output(segment);
    if (how_.reentrant) hold_gradient(segment);
  }

  static constexpr std::uint32_t kAgain = 16;  ///< behind frees that were put there

  struct Happening {
    std::uint64_t event = 0;
    bool begins = true;
    std::size_t block = 0;
  };

  bool is_output(const Segment& segment, std::size_t i) const {
    return segment.blocks[i] == segment.output;
  }

  // What is computed again for the backward, and lives until that frees it.
  bool comes_back(const Segment& segment, std::size_t i) const {
    return segment.saved[i] || (is_output(segment, i) && segment.saves_output);
  }

  bool is_computed_again(const Segment& segment, std::size_t i) const {
    return !is_output(segment, i) || segment.saves_output || how_.reentrant;
  }

  void add_again(const Segment& segment, std::size_t i, std::uint64_t stop_event,
                 std::vector<Happening>& events) const {
    if (!is_computed_again(segment, i)) return;
    const BlockLife& block = life(segment.blocks[i]);
    events.push_back({block.born, true, i});
    if (comes_back(segment, i) || is_output(segment, i)) return;
    const std::uint64_t end = how_.reentrant ? event_of(segment.last) : stop_event + 1;
    events.push_back({std::min(block.freed, end), false, i});
  }

  void end_copy(const Segment& segment, std::size_t i, std::uint32_t order) {
    if (!is_computed_again(segment, i)) return;
    if (!comes_back(segment, i) && !is_output(segment, i)) return;
    const std::uint32_t copy = copies_.at(segment.blocks[i]);
    const std::uint64_t freed = life(segment.blocks[i]).freed;
    Spot end{end_of_use(freed), 0};
    if (is_output(segment, i) && how_.reentrant) end = end_of_backward(segment);
    if (end.before == BlockLife::kNever) return;
    rewrite_.free_at(copy, std::max(end, Spot{segment.again, order}));
  }

  // A saved tensor is freed behind the checks of what its operation returned, one that was computed
  // again before them. They sum up a gradient that is wider than its parameter, such as that of a
  // bias, in a buffer and counters of its own.
  std::uint64_t end_of_use(std::uint64_t freed) const {
    if (freed == BlockLife::kNever) return freed;
    std::vector<std::uint32_t> temporaries;  // freed since the last request, the latest first
    for (std::uint64_t event = freed; event-- > 0 && trace_.ops[event] != Op::allocate;) {
      const std::uint32_t block = lives_.block_of[event];
      if (block == kNone || life(block).freed != event || passes_.is_saved(life(block))) continue;
      temporaries.push_back(block);
    }
    if (temporaries.size() < 2) return freed;
    const BlockLife& counters = life(temporaries.back());
    const BlockLife& buffer = life(temporaries[temporaries.size() - 2]);
    if (buffer.existed_before() || counters.existed_before()) return freed;
    const auto at = std::ranges::lower_bound(allocations_, counters.born);
    const auto number = at - allocations_.begin();
    const bool sums =
        counters.size < buffer.size && number > 1 && allocations_[number - 1] == buffer.born;
    return sums ? allocations_[number - 2] : freed;
  }

  // A backward inside the backward: it ends right before that of the segment before, where nothing
  // lies between them.
  Spot end_of_backward(const Segment& segment) const {
    const auto before = std::ranges::find(segments_, segment.first, &Segment::last);
    const bool adjacent = before != segments_.end() && is_checkpointed(*before) &&
                          has_backward(*before) && before->again >= segment.last_free;
    if (adjacent) return {before->again, 0};
    // Its first operation may have saved what it was given.
    const std::uint32_t input =
        segment.first == 0 ? kNone : value_at(0, segment.first, segment.first);
    const std::uint64_t given = input == kNone ? 0 : life(input).freed;
    const bool others = std::ranges::any_of(segments_, [&](const Segment& other) {
      return other.again > segment.last_free && other.again <= given;
    });
    const bool saved = given > segment.last_free && given < trace_.size() && !others;
    return {saved ? given : segment.last_free, 0};
  }

  void end_output(const Segment& segment) {
    if (segment.output == kNone || !segment.saves_output) return;
    if (life(segment.output).freed == BlockLife::kNever) return;
    const std::uint64_t next = event_of(segment.last);
    const bool held =
        segment.last == allocations_.size() ||
        std::ranges::find(segments_, segment.last, &Segment::first) != segments_.end();
    const bool known = !held && needs_no_input(recording_, stack_at(trace_, next));
    open_ |= !held && !known;
    Spot spot{segment.again, 0};
    if (!held && (known || !guess_.keeps_outputs)) {
      // Behind the operation that consumes it.
      std::size_t behind = segment.last;
      while (behind < allocations_.size() && operations_[behind] == operations_[segment.last]) {
        ++behind;
      }
      spot.before = std::min(event_of(behind), segment.again);
    }
    rewrite_.free_at(segment.output, spot);
  }

  // The gradient of its output lives as long as what was computed again.
  void hold_gradient(const Segment& segment) {
    if (segment.output == kNone) return;
    const Bytes size = life(segment.output).size;
    const auto at = std::ranges::lower_bound(allocations_, segment.again);
    for (auto i = static_cast<std::size_t>(at - allocations_.begin()); i-- > 0;) {
      const std::uint32_t block = block_of(i);
      if (life(block).size != size || !life(block).alive_at(segment.again)) continue;
      if (!is_backward(static_cast<std::uint32_t>(i))) return;
      const Spot end = end_of_backward(segment);
      if (life(block).freed < end.before) rewrite_.free_at(block, end);
      return;
    }
  }

  const Recording& recording_;
  const Trace& trace_;
  const Edit& edit_;
  const CheckpointEdit& how_;
  const CheckpointGuess& guess_;
  Passes passes_;
  BlockLives lives_;
  Rewrite rewrite_;
  bool ended_by_oom_ = false;
  std::vector<std::uint64_t> allocations_;  ///< events
  std::vector<std::uint32_t> operations_;   ///< by allocation
  std::size_t instances_ = 0;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> backward_;  ///< by step: its first allocation
  std::map<std::uint32_t, std::uint32_t> copies_;
  EditFacts facts_;
  bool open_ = false;
};

}  // namespace

Checkpointed checkpointed(const Recording& recording, const Trace& trace, const Edit& edit,
                          const CheckpointGuess& guess) {
  return Checkpointing(recording, trace, edit, guess).make();
}

}  // namespace memreplay
