#include "extensions/what_if/edit/segments.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "extensions/what_if/edit/code_instances.hpp"
#include "program/program_course.hpp"

namespace memreplay {
namespace {

using OperationNames = std::initializer_list<std::string_view>;

bool is_function(const Recording& recording, const Frame& frame, OperationNames names) {
  return recording.texts[frame.file].ends_with("torch/nn/functional.py") &&
         std::ranges::find(names, recording.texts[frame.name]) != names.end();
}

/// Whether a frame is in one of these files under torch/nn/modules.
bool is_module(const Recording& recording, const Frame& frame, OperationNames files) {
  constexpr std::string_view kModules = "torch/nn/modules/";
  const std::string_view path = recording.texts[frame.file];
  return std::ranges::any_of(files, [&](std::string_view file) {
    return path.ends_with(file) && path.substr(0, path.size() - file.size()).ends_with(kModules);
  });
}

/// Null where nothing is known of who asked.
const Frame* innermost(const Recording& recording, std::uint32_t stack) {
  const auto& numbers = recording.stacks[stack];
  return numbers.empty() ? nullptr : &recording.frames[numbers.front()];
}

/// The groups, or those within them.
std::vector<Segment> grouped(const std::vector<CodeInstance>& instances, const CheckpointEdit& edit,
                             bool inner = false) {
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
      const std::size_t part = inner ? edit.inner.value_or(size) : size;
      for (std::size_t k = i; k < end; k += part) {
        segments.push_back({.first = instances[from + k].first,
                            .last = instances[from + std::min(k + part, end) - 1].last,
                            .step = instances[from].step});
      }
    }
  }
  return segments;
}

class SegmentFinder {
 public:
  SegmentFinder(const ProgramCourse& course, const Selector& code)
      : course_(course),
        instances_(instances_of(course.recording(), course.trace(), course.allocations(),
                                course.passes(), code)) {
    // A step's backward begins after its last instance.
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      const CodeInstance& instance = instances_[i];
      if (i + 1 < instances_.size() && instances_[i + 1].step == instance.step) continue;
      std::size_t next = instance.last;
      while (next < course_.allocations().size() && !course_.is_backward(next)) ++next;
      backward_.resize(instance.step, 0);
      backward_.push_back(course_.event_of(next));
    }
  }

  Segments find(const CheckpointEdit& edit) {
    look_at_layers();
    Segments found{
        .segments = grouped(instances_, edit), .backward = backward_, .layers = instances_.size()};
    look_at_all(found.segments);
    if (edit.inner) {
      found.inner = grouped(instances_, edit, true);
      look_at_all(found.inner);
    }
    return found;
  }

 private:
  const BlockLife& life(std::uint32_t block) const { return course_.life(block); }

  void look_at_all(std::vector<Segment>& segments) const {
    for (Segment& segment : segments) {
      look_at(segment);
      if (!segment.is_checkpointed() || !segment.has_backward()) continue;
      segment.again = backward_of(segment);
      const Segment* const layer = found_at(layers_, segment.last, &Segment::last);
      if (layer != nullptr && layer->first_free == segment.first_free)
        segment.again = std::max(segment.again, layer->again);
    }
    const Votes of_segments = votes_of(segments);
    const Votes of_layers = votes_of(layers_);
    for (Segment& segment : segments) {
      if (segment.again == BlockLife::kNever) continue;
      const Vote vote = vote_on(segment, of_segments);
      segment.saves_output = (vote.decides() ? vote : vote_on(segment, of_layers)).yes();
      place(segment);
    }
  }

  /// Where a program died in its last step, what was not freed by then is saved as well.
  bool is_freed_by_backward(const Segment& segment, const BlockLife& life) const {
    if (life.freed != BlockLife::kNever) return life.freed >= backward_[segment.step];
    return course_.ran_out() && segment.step + 1 == backward_.size();
  }

  void look_at(Segment& segment) const {
    segment.output = course_.value_at(segment.first, segment.last, segment.last);
    for (std::uint32_t i = segment.first; i < segment.last; ++i) {
      const std::uint32_t block = course_.block_of(i);
      segment.blocks.push_back(block);
      const bool saved = block != segment.output && is_freed_by_backward(segment, life(block));
      segment.saved.push_back(saved);
      if (!saved || life(block).freed == BlockLife::kNever) continue;
      segment.first_free = std::min(segment.first_free, life(block).freed);
      segment.last_free = std::max(segment.last_free, life(block).freed);
    }
  }

  /// The first request of the segment's backward: the one after the last free, before its own first
  /// free, of what was asked for after the segment, or computed again.
  std::uint64_t backward_of(const Segment& segment) const {
    const std::uint64_t begin = backward_[segment.step];
    const std::uint64_t from = course_.event_of(segment.last);
    const auto ends_the_one_before = [&](std::uint64_t event) {
      const std::uint32_t block = course_.freed_at(event);
      if (block == BlockLives::kNone || life(block).existed_before() || life(block).born < from)
        return false;
      return life(block).born < begin || !course_.passes().is_backward(life(block).stack);
    };
    std::uint64_t last = std::max(segment.first_free, begin);
    while (last > begin && !ends_the_one_before(last - 1)) --last;
    return course_.request_behind(last == begin ? begin : last - 1);
  }

  // Single layers may deceive where what follows them is another one; the majority of those that
  // are alike decides for all.
  void look_at_layers() {
    layers_ = grouped(instances_, {});
    last_free_.assign(backward_.size(), 0);
    std::map<Sizes, std::map<std::size_t, std::size_t>> lengths;
    for (Segment& layer : layers_) {
      look_at(layer);
      if (!layer.is_checkpointed() || !layer.has_backward()) continue;
      layer.again = backward_of(layer);
      last_free_[layer.step] = std::max(last_free_[layer.step], layer.last_free);
      ++lengths[sizes_of(layer)][begins_with(layer)];
    }
    for (Segment& layer : layers_) {
      if (layer.again == BlockLife::kNever) continue;
      const auto& counts = lengths[sizes_of(layer)];
      // The shortest among equals: what comes before belongs to others.
      const auto usual =
          std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
      const std::size_t most = std::min(usual->first, begins_with(layer));
      layer.again = course_.event_of(course_.allocation_from(layer.first_free) - most);
    }
  }

  /// Whether their own backward needs what so many segments return.
  struct Vote {
    int sum = 0;
    int voters = 0;
    bool refuted = false;  ///< one was freed before any backward

    bool decides() const { return refuted || (voters > 1 && sum != 0); }
    bool yes() const { return !refuted && sum > 0; }
  };
  using Votes = std::map<std::uint32_t, Vote>;  ///< by stack of the outputs

  // Consumers differ, so that single ones may deceive.
  Votes votes_of(const std::vector<Segment>& segments) const {
    Votes votes;
    for (const Segment& segment : segments) {
      if (segment.output == BlockLives::kNone || segment.again == BlockLife::kNever) continue;
      const BlockLife& output = life(segment.output);
      if (output.freed == BlockLife::kNever) continue;
      const bool own = output.freed > segment.again && !is_freed_by_consumer(segment) &&
                       !goes_like_the_first_input(segment);
      Vote& vote = votes[output.stack];
      vote.sum += own ? 1 : -1;
      vote.refuted |= output.freed < backward_[segment.step];
      ++vote.voters;
    }
    return votes;
  }

  /// What the operation that frees the output asked for last is the gradient of a parameter: it is
  /// there when the backward has ended. What needs its own result alone, such as an activation
  /// function, has no parameters.
  bool is_freed_by_consumer(const Segment& segment) const {
    const std::uint64_t freed = life(segment.output).freed;
    for (std::size_t i = course_.allocation_from(freed); i-- > 0 && course_.is_backward(i);) {
      const BlockLife& block = life(course_.block_of(i));
      if (block.freed >= freed) return block.freed > last_free_[segment.step];
    }
    return false;
  }

  /// What the first layer of a run is given was asked for by an operation whose backward does not
  /// need it. The layer after it frees its own as late after the rest: that layer needs it.
  bool goes_like_the_first_input(const Segment& segment) const {
    const Segment* const behind = found_at(layers_, segment.last, &Segment::first);
    if (behind == nullptr || !behind->has_backward()) return false;
    const Segment* head = behind;
    while (head != layers_.data() && std::prev(head)->last == head->first) --head;
    if (head == behind || head->first == 0 || !head->has_backward()) return false;
    const std::uint32_t input = first_input(*head, life(segment.output).size);
    return input != BlockLives::kNone &&
           requests_behind(*head, input) == requests_behind(*behind, segment.output);
  }

  /// The latest of that size that lives when the layer begins, if it is of such an operation.
  std::uint32_t first_input(const Segment& head, Bytes size) const {
    constexpr std::size_t kNear = 256;
    const std::size_t far = head.first - std::min<std::size_t>(head.first, kNear);
    for (std::size_t i = head.first; i-- > far;) {
      const std::uint32_t block = course_.block_of(i);
      const BlockLife& input = life(block);
      if (input.size != size || !input.alive_at(course_.event_of(head.first))) continue;
      return needs_no_result(course_.recording(), input.stack) ? block : BlockLives::kNone;
    }
    return BlockLives::kNone;
  }

  /// From the last free of what a layer saves to that of a block.
  std::ptrdiff_t requests_behind(const Segment& layer, std::uint32_t block) const {
    return static_cast<std::ptrdiff_t>(course_.allocation_from(life(block).freed)) -
           static_cast<std::ptrdiff_t>(course_.allocation_from(layer.last_free));
  }

  Vote vote_on(const Segment& segment, const Votes& votes) const {
    if (segment.output == BlockLives::kNone) return {};
    const auto vote = votes.find(life(segment.output).stack);
    return vote == votes.end() ? Vote{} : vote->second;
  }

  using Sizes = std::vector<Bytes>;

  Sizes sizes_of(const Segment& segment) const {
    Sizes sizes;
    for (const std::uint32_t block : segment.blocks) sizes.push_back(life(block).size);
    return sizes;
  }

  /// How much its backward asks for before it first frees something that was saved.
  std::size_t begins_with(const Segment& segment) const {
    return course_.allocation_from(segment.first_free) - course_.allocation_from(segment.again);
  }

  void place(Segment& segment) const {
    if (segment.output == BlockLives::kNone) return;
    const std::uint64_t freed = life(segment.output).freed;
    if (freed == BlockLife::kNever) return;
    if (segment.saves_output) {
      const std::size_t next = course_.allocation_from(freed);
      if (next > 0) segment.again = course_.event_of(next - 1);
      segment.again = std::max(segment.again, backward_[segment.step]);
    } else if (freed > segment.again && freed < segment.first_free) {
      segment.again = course_.request_behind(freed);
    }
  }

  const ProgramCourse& course_;
  std::vector<CodeInstance> instances_;
  std::vector<std::uint64_t> backward_;
  std::vector<Segment> layers_;
  std::vector<std::uint64_t> last_free_;  ///< by step, among what layers save
};

}  // namespace

const Segment* found_at(const std::vector<Segment>& segments, std::uint32_t place,
                        std::uint32_t Segment::*member) {
  const auto at = std::ranges::lower_bound(segments, place, {}, member);
  return at != segments.end() && (*at).*member == place ? &*at : nullptr;
}

bool Segment::is_checkpointed() const { return std::ranges::find(saved, true) != saved.end(); }

Segments segments_of(const ProgramCourse& course, const Selector& code,
                     const CheckpointEdit& edit) {
  return SegmentFinder(course, code).find(edit);
}

bool needs_no_input(const Recording& recording, std::uint32_t stack) {
  return std::ranges::any_of(recording.stacks[stack], [&](std::uint32_t number) {
    return is_function(recording, recording.frames[number],
                       {"interpolate", "upsample", "upsample_nearest", "upsample_bilinear",
                        "dropout", "dropout1d", "dropout2d", "dropout3d", "pad"});
  });
}

bool needs_no_result(const Recording& recording, std::uint32_t stack) {
  const Frame* const frame = innermost(recording, stack);
  if (frame == nullptr) return false;
  return is_function(recording, *frame,
                     {"embedding", "layer_norm", "group_norm", "batch_norm", "rms_norm"}) ||
         is_module(recording, *frame,
                   {"linear.py", "conv.py", "sparse.py", "normalization.py", "batchnorm.py"});
}

bool saves_weights(const Recording& recording, std::uint32_t stack) {
  const Frame* const frame = innermost(recording, stack);
  return frame != nullptr && is_module(recording, *frame, {"linear.py", "conv.py"});
}

}  // namespace memreplay
