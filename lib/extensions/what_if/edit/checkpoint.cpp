#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "extensions/what_if/edit/segments.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNone = BlockLives::kNone;

class Checkpointing {
 public:
  Checkpointing(const Recording& recording, const Trace& trace, const Edit& edit,
                const CheckpointGuess& guess)
      : edit_(edit),
        how_(std::get<CheckpointEdit>(edit.what)),
        guess_(guess),
        course_(recording, trace),
        found_(segments_of(course_, edit.selector, how_)),
        segments_(found_.segments),
        rewrite_(trace, course_.lives()),
        comes_back_(course_.lives().blocks.size()) {
    for (const Segment& segment : segments_) {
      for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
        if (comes_back(segment, i)) comes_back_[segment.blocks[i]] = true;
      }
    }
  }

  Checkpointed make() {
    for (const Segment& segment : segments_) {
      if (segment.is_checkpointed()) apply(segment);
    }
    if (facts_.blocks == 0) {
      throw UsageError(fmt::format(
          "--edit {}: {}", edit_.text,
          found_.layers == 0 ? "no stack of this recording has that code"
                             : "nothing that this code requests is freed by a backward pass"));
    }
    facts_.edit = edit_.text;
    return {rewrite_.write(), std::move(facts_), open_};
  }

 private:
  std::uint64_t event_of(std::size_t allocation) const { return course_.event_of(allocation); }
  const BlockLife& life(std::uint32_t block) const { return course_.life(block); }

  static constexpr std::uint32_t kAgain = kAfterDeaths;  ///< after frees that were put there

  struct Happening {
    std::uint64_t event = 0;
    bool begins = true;
    std::uint32_t block = 0;
  };

  void apply(const Segment& segment) {
    const std::uint64_t end = event_of(segment.last);
    Bytes bytes = 0;
    for (const Death& death : deaths_in(segment)) {
      const bool kept = guess_.returns_more && death.spot.before >= end;
      rewrite_.free_at(death.block,
                       kept ? RewritePoint{found_.backward[segment.step], 0} : death.spot);
      ++facts_.blocks;
      bytes += life(death.block).size;
    }
    facts_.bytes += bytes;
    if (!how_.inner) facts_.largest_segment = std::max(facts_.largest_segment, bytes);
    for (const Segment& one : inner_of(segment)) {
      for (const Death& death : deaths_in(one)) rewrite_.free_at(death.block, death.spot);
    }
    hold_inputs(segment);
    if (how_.inner) {
      compute_inner(segment);
    } else if (segment.has_backward()) {
      compute_again(segment);
    }
    if (segment.has_backward()) end_output(segment);
  }

  std::vector<Death> deaths_in(const Segment& segment) const {
    return deaths_of(course_.recording(), course_.lives(),
                     {segment.blocks, course_.operations(segment.first, segment.last)},
                     segment.saved, event_of(segment.last), guess_.deaths);
  }

  std::span<const Segment> inner_of(const Segment& segment) const {
    const auto from = std::ranges::lower_bound(found_.inner, segment.first, {}, &Segment::first);
    const auto to = std::ranges::lower_bound(found_.inner, segment.last, {}, &Segment::first);
    return {from, to};
  }

  // Its forward is run again up to the last of the inner groups, each of which keeps its input
  // alone, and each of them once more right before its backward.
  void compute_inner(const Segment& segment) {
    const std::span<const Segment> inner = inner_of(segment);
    for (const Segment& one : inner) {
      Bytes bytes = 0;
      for (std::size_t i = 0; i < one.blocks.size(); ++i) {
        if (one.saved[i]) bytes += life(one.blocks[i]).size;
      }
      facts_.largest_segment = std::max(facts_.largest_segment, bytes);
    }
    if (!segment.has_backward()) return;
    const std::uint32_t order = give_inputs(segment, inner);
    for (const Segment& one : inner) {
      if (one.has_backward()) compute_again(one, one.again > segment.again ? kAgain : order);
    }
  }

  // Returns the order of what comes next at the same place.
  std::uint32_t give_inputs(const Segment& segment, std::span<const Segment> inner) {
    const std::uint64_t end = event_of(inner.back().first);
    std::vector<Happening> events;
    for (const Segment& one : inner.first(inner.size() - 1)) {
      for (const Death& death : deaths_in(one)) {
        events.push_back({death.spot.before, false, death.block});
      }
      for (std::size_t i = 0; i < one.blocks.size(); ++i) {
        const BlockLife& block = life(one.blocks[i]);
        events.push_back({block.born, true, one.blocks[i]});
        if (one.saved[i] || is_output(one, i)) continue;
        events.push_back({std::min(block.freed, end), false, one.blocks[i]});
      }
    }
    std::map<std::uint32_t, std::uint32_t> copies;
    const std::uint32_t order = ask_again(std::move(events), {segment.again, kAgain}, copies);
    for (std::size_t i = 0; i + 1 < inner.size(); ++i) {
      const Segment& one = inner[i];
      if (one.output == kNone) continue;
      const Segment& next = inner[i + 1].has_backward() ? inner[i + 1] : segment;
      const std::uint64_t freed = life(one.output).freed;
      std::uint64_t last = next.last_free;
      if (freed != BlockLife::kNever) last = std::max(last, freed);
      if (one.saves_output) last = one.again;
      rewrite_.free_at(copies.at(one.output),
                       std::max(RewritePoint{last, 0}, RewritePoint{segment.again, order}));
    }
    return order;
  }

  // The last result in front of it.
  std::uint32_t input_of(const Segment& segment) const {
    return course_.value_at(0, segment.first, segment.first);
  }

  // What its callers gave it is needed to compute it again.
  void hold_inputs(const Segment& segment) {
    if (!segment.has_backward()) return;
    const std::uint64_t from = event_of(segment.first);
    const std::uint32_t input = input_of(segment);
    if (input != kNone && dies_in_forward(segment, life(input).freed)) {
      rewrite_.free_at(input, {segment.last_free, 0});
    }
    // Others are those that its backward frees.
    for (std::uint64_t event = segment.again; event < segment.last_free; ++event) {
      const std::uint32_t block = course_.freed_at(event);
      if (block == kNone || life(block).existed_before()) continue;
      if (life(block).born < from && !comes_back_[block]) {
        rewrite_.free_at(block, {segment.last_free, 0});
      }
    }
  }

  // Behind the operation that follows a segment an operand of that dies, which the segment did not
  // need.
  bool dies_in_forward(const Segment& segment, std::uint64_t freed) const {
    const bool operand =
        freed >= event_of(segment.last) && freed < event_of(behind_operation(segment.last));
    return freed >= event_of(segment.first) && freed < found_.backward[segment.step] && !operand;
  }

  std::size_t behind_operation(std::size_t allocation) const {
    std::size_t behind = allocation;
    while (behind < course_.allocations().size() &&
           course_.operation(behind) == course_.operation(allocation)) {
      ++behind;
    }
    return behind;
  }

  void compute_again(const Segment& segment, std::uint32_t order = kAgain) {
    const std::size_t stop = how_.reentrant ? segment.blocks.size() : early_stop(segment);
    if (stop == 0) return;
    const std::uint64_t stop_event = life(segment.blocks[stop - 1]).born;
    std::vector<Happening> events;
    for (std::size_t i = 0; i < stop; ++i) add_again(segment, i, stop_event, events);
    order = ask_again(std::move(events), {segment.again, order}, copies_);
    for (std::size_t i = 0; i < stop; ++i) end_copy(segment, i, order);
    if (how_.reentrant) hold_gradient(segment);
  }

  // Returns the order of what comes next at the same place.
  std::uint32_t ask_again(std::vector<Happening> events, RewritePoint spot,
                          std::map<std::uint32_t, std::uint32_t>& copies) {
    std::ranges::stable_sort(events, {}, [](const Happening& happening) {
      return std::pair(happening.event, happening.begins);
    });
    for (const Happening& happening : events) {
      const std::uint32_t like = happening.block;
      if (happening.begins) {
        copies[like] = rewrite_.add(like, life(like).size, spot);
        facts_.recomputed_bytes += life(like).size;
        ++facts_.recomputed_requests;
      } else {
        rewrite_.free_at(copies.at(like), spot);
      }
      ++spot.order;
    }
    return spot.order;
  }

  bool is_output(const Segment& segment, std::size_t i) const {
    return segment.blocks[i] == segment.output;
  }

  // What is computed again for the backward, and lives until that frees it.
  bool comes_back(const Segment& segment, std::size_t i) const {
    return segment.saved[i] || (is_output(segment, i) && segment.saves_output);
  }

  // torch stops after the operation that saves the last of its results, or before a later one that
  // saves what it is given, such as a layer with weights.
  std::size_t early_stop(const Segment& segment) const {
    std::size_t stop = segment.blocks.size();
    while (stop > 0 && !comes_back(segment, stop - 1)) --stop;
    if (stop == 0) return 0;
    const auto same = [&](std::size_t i) {
      return course_.operation(segment.first + i) == course_.operation(segment.first + i - 1);
    };
    while (stop < segment.blocks.size() && same(stop)) ++stop;
    for (std::size_t i = segment.blocks.size(); --i > stop;) {
      if (!same(i) && saves_weights(course_.recording(), life(segment.blocks[i]).stack)) return i;
    }
    return stop;
  }

  // Whether a block that is computed again outlives the recomputation.
  bool outlives_that(const Segment& segment, std::size_t i) const {
    return comes_back(segment, i) || (is_output(segment, i) && how_.reentrant);
  }

  void add_again(const Segment& segment, std::size_t i, std::uint64_t stop_event,
                 std::vector<Happening>& events) const {
    const BlockLife& block = life(segment.blocks[i]);
    events.push_back({block.born, true, segment.blocks[i]});
    if (outlives_that(segment, i)) return;
    const std::uint64_t end = how_.reentrant ? event_of(segment.last) : stop_event + 1;
    events.push_back({std::min(block.freed, end), false, segment.blocks[i]});
  }

  void end_copy(const Segment& segment, std::size_t i, std::uint32_t order) {
    if (!outlives_that(segment, i)) return;
    const std::uint32_t copy = copies_.at(segment.blocks[i]);
    const std::uint64_t freed = life(segment.blocks[i]).freed;
    RewritePoint end{end_of_use(freed), 0};
    if (is_output(segment, i) && how_.reentrant) end = end_of_backward(segment);
    if (end.before == BlockLife::kNever) return;
    rewrite_.free_at(copy, std::max(end, RewritePoint{segment.again, order}));
  }

  // A saved tensor is freed after the checks of what its operation returned, one that was computed
  // again before them. The checks sum up a gradient that is wider than its parameter, such as a
  // bias's, in a buffer and counters of its own.
  std::uint64_t end_of_use(std::uint64_t freed) const {
    if (freed == BlockLife::kNever) return freed;
    std::vector<std::uint32_t> temporaries;  // freed since the last request, the latest first
    for (std::uint64_t event = freed; event-- > 0 && course_.trace().ops[event] != Op::allocate;) {
      const std::uint32_t block = course_.freed_at(event);
      if (block != kNone && !course_.passes().is_saved(life(block))) temporaries.push_back(block);
    }
    if (temporaries.size() < 2) return freed;
    const BlockLife& counters = life(temporaries.back());
    const BlockLife& buffer = life(temporaries[temporaries.size() - 2]);
    if (buffer.existed_before() || counters.existed_before()) return freed;
    const std::size_t number = course_.allocation_from(counters.born);
    const bool sums =
        counters.size < buffer.size && number > 1 && event_of(number - 1) == buffer.born;
    return sums ? event_of(number - 2) : freed;
  }

  // A backward inside the backward: it ends right before that of the segment before, where nothing
  // lies between them.
  RewritePoint end_of_backward(const Segment& segment) const {
    const Segment* const before = found_at(segments_, segment.first, &Segment::last);
    const bool adjacent = before != nullptr && before->is_checkpointed() &&
                          before->has_backward() && before->again >= segment.last_free;
    if (adjacent) return {before->again, 0};
    // Its first operation may have saved what it was given.
    const std::uint32_t input = input_of(segment);
    const std::uint64_t given = input == kNone ? 0 : life(input).freed;
    const bool others = std::ranges::any_of(segments_, [&](const Segment& other) {
      return other.again > segment.last_free && other.again <= given;
    });
    const bool saved = given > segment.last_free && given < course_.trace().size() && !others;
    return {saved ? given : segment.last_free, 0};
  }

  void end_output(const Segment& segment) {
    if (segment.output == kNone || !segment.saves_output) return;
    if (life(segment.output).freed == BlockLife::kNever) return;
    const std::uint64_t next = event_of(segment.last);
    const bool held = segment.last == course_.allocations().size() ||
                      found_at(segments_, segment.last, &Segment::first) != nullptr;
    const bool known =
        !held && needs_no_input(course_.recording(), stack_at(course_.trace(), next));
    open_ |= !held && !known;
    RewritePoint spot{segment.again, 0};
    if (!held && (known || !guess_.keeps_outputs)) {
      // Behind the operation that consumes it.
      spot.before = std::min(event_of(behind_operation(segment.last)), segment.again);
    }
    rewrite_.free_at(segment.output, spot);
  }

  // The gradient of its output lives as long as what was computed again.
  void hold_gradient(const Segment& segment) {
    if (segment.output == kNone) return;
    const Bytes size = life(segment.output).size;
    for (std::size_t i = course_.allocation_from(segment.again); i-- > 0;) {
      const std::uint32_t block = course_.block_of(i);
      if (life(block).size != size || !life(block).alive_at(segment.again)) continue;
      if (!course_.is_backward(i)) return;
      const RewritePoint end = end_of_backward(segment);
      if (life(block).freed < end.before) rewrite_.free_at(block, end);
      return;
    }
  }

  const Edit& edit_;
  const CheckpointEdit& how_;
  const CheckpointGuess& guess_;
  ProgramCourse course_;
  Segments found_;
  const std::vector<Segment>& segments_;
  Rewrite rewrite_;
  std::vector<bool> comes_back_;  ///< by block
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
