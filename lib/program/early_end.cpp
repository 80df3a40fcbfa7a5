#include "program/early_end.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "program/gradient_use.hpp"
#include "program/places.hpp"
#include "program/program_course.hpp"
#include "program/steps.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

/// Requests that two steps have in common before an OOM, at least. As many after it show that the
/// program went on, and so does one by the code that was refused.
constexpr std::size_t kAlike = 16;

// Other scopes that recur may be layers.
bool has_profiler_steps(const Recording& recording) {
  return std::ranges::any_of(recording.annotations, [&](const Annotation& annotation) {
    return recording.texts[annotation.text].starts_with("ProfilerStep");
  });
}

bool shows_stacks(const Trace& trace) {
  return std::ranges::any_of(trace.stacks, [](std::uint32_t stack) { return stack != 0; });
}

/// Some stack has code of a model, of an optimizer or of a backward pass: without that there may be
/// no step at all.
bool shows_training(const Recording& recording) {
  return std::ranges::any_of(recording.frames, [&](const Frame& frame) {
    const std::string& name = recording.texts[frame.name];
    const std::string& file = recording.texts[frame.file];
    return name == "forward" || name == "backward" || file.find("torch/nn/") != file.npos ||
           file.find("torch/autograd/") != file.npos || is_of_optimizer(file);
  });
}

bool may_hide_ooms(const Recording& recording) {
  if (!is_torch(recording) || !recording.settings.present) return false;
  return torch::settings_of(recording.settings, torch::kNewestRelease).throw_on_cudamalloc_oom;
}

/// Numbers equal values alike.
template <typename Value>
class Numbered {
 public:
  std::uint64_t operator()(const Value& value) {
    return numbers_.try_emplace(value, numbers_.size()).first->second;
  }

 private:
  std::map<Value, std::uint64_t> numbers_;
};

/// The requests of a recording up to the OOM at which it ends, and the earlier step that is like
/// the one in which it came.
class FailedStep {
 public:
  FailedStep(const Recording& recording, const Trace& trace)
      : recording_(recording), trace_(trace), shows_stacks_(shows_stacks(trace)) {
    if (!trace.streamed) find_last_oom();  // streamed events are without OOMs
    if (!ends_at_oom()) return;
    passes_ = Passes(recording, trace);
    lives_ = lives_of(trace);
    for (BlockLife& life : lives_.blocks) {
      // What is freed after the OOM is freed because of it.
      if (life.freed != BlockLife::kNever && life.freed > oom()) life.freed = BlockLife::kNever;
    }
    for (std::uint32_t stack = 0; stack < recording.stacks.size(); ++stack) {
      backward_.push_back(found_backward(stack));
    }
    if (backward_.empty()) backward_.push_back(passes_.is_backward(0));
    used_ = gradients_used(trace, lives_, requests_, backward_);
    note_pass();
    find_boundary();
    find_step_before();
  }

  bool ends_at_oom() const { return !requests_.empty(); }
  std::uint64_t oom() const { return requests_.back(); }
  EarlyEnd::Pass pass() const { return pass_; }
  bool has_earlier_step() const { return boundary_ && goes_forward_again_; }
  /// A forward pass follows a backward pass, but no use of its gradients shows.
  bool has_earlier_pass() const { return goes_forward_again_; }
  bool begins_alike() const { return begins_alike_; }
  bool repeats_earlier_step() const { return !pairs_.empty() && !shapes_vary_; }

  /// Where it repeats one: the trace with the rest of it, and one more step: what the allocator
  /// holds may settle only then.
  Rewritten completed() const {
    const std::map<std::uint32_t, std::uint32_t> like = counterparts();
    const std::uint64_t step = requests_[pairs_.back().second];  // its first event
    Rewrite rewrite(trace_, lives_);
    std::map<std::uint32_t, std::uint32_t> now;  // blocks of these events: those that are live
    std::uint32_t order = 0;
    std::vector<std::uint32_t> passing;  // that live until the next request
    const auto go_on = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t event = from; event < to; ++event) {
        const std::uint32_t block = lives_.block_of[event];
        if (block == BlockLives::kNone) continue;
        const BlockLife& life = lives_.blocks[block];
        const RewritePoint spot{oom() + 1, order++};
        if (trace_.ops[event] == Op::allocate) {
          for (const std::uint32_t last : passing) rewrite.free_at(last, spot);
          passing.clear();
          const bool stays = event < step && life.freed == BlockLife::kNever;
          // A gradient that is there already is added to.
          if (stays && !is_backward(life.stack)) continue;
          const std::uint32_t added = rewrite.add(block, life.size, spot);
          if (stays) passing.push_back(added);
          if (!stays) now[block] = added;
        } else if (life.freed == event) {
          const auto found = now.find(block);
          if (found == now.end()) continue;
          rewrite.free_at(found->second, spot);
          now.erase(found);
        }
      }
    };
    for (const auto& [then, here] : like) now[then] = here;
    go_on(like_oom(), step);
    go_on(step, oom());
    for (const auto& [then, here] : like) {
      if (const auto found = now.find(here); found != now.end()) now[then] = found->second;
    }
    go_on(like_oom(), step);
    return rewrite.write();
  }

 private:
  std::uint64_t like_oom() const { return requests_[pairs_.front().first]; }

  void find_last_oom() {
    std::vector<std::uint64_t> requests;
    std::size_t up_to_oom = 0;
    for (std::uint64_t event = 0; event < trace_.size(); ++event) {
      if (!is_request(trace_.ops[event])) continue;
      requests.push_back(event);
      if (trace_.ops[event] == Op::oom) up_to_oom = requests.size();
    }
    if (up_to_oom == 0 || requests.size() - up_to_oom >= kAlike) return;
    const std::uint32_t refused = stack_at(trace_, requests[up_to_oom - 1]);
    const auto after = std::span(requests).subspan(up_to_oom);
    const bool asks_again = refused != 0 && std::ranges::any_of(after, [&](std::uint64_t event) {
                              return stack_at(trace_, event) == refused;
                            });
    if (asks_again) return;
    requests.resize(up_to_oom);
    requests_ = std::move(requests);
  }

  // After a backward pass comes the forward pass of the next step once its gradients were used.
  void note_pass() {
    if (!shows_stacks_ || !passes_.are_known()) return;
    std::size_t last = requests_.size();  // in a backward pass
    bool optimizes = false;               // after it
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const std::uint32_t stack = stack_at(trace_, requests_[i]);
      if (is_backward(stack)) last = i;
      optimizes = last < i && (optimizes || is_of_optimizer(recording_, stack));
    }
    if (last == requests_.size()) return;
    const bool is_optimizer = is_of_optimizer(recording_, stack_at(trace_, oom()));
    const bool used = optimizes || used_ > requests_[last];
    if (last + 1 == requests_.size()) {
      pass_ = EarlyEnd::Pass::backward;
    } else if (is_optimizer || !used) {
      pass_ = EarlyEnd::Pass::later;
    }
  }

  bool is_backward(std::uint32_t stack) const { return backward_[stack]; }

  /// What a checkpoint computes again has frames of the program, but on a thread of autograd's: its
  /// outermost frame is PyTorch's own.
  bool found_backward(std::uint32_t stack) const {
    const std::vector<std::uint32_t>& frames = recording_.stacks[stack];
    if (passes_.is_backward(stack) || frames.empty()) return passes_.is_backward(stack);
    const Frame& outermost = recording_.frames[frames.back()];
    return frame_kind(recording_.texts[outermost.name], recording_.texts[outermost.file]) ==
           FrameKind::framework;
  }

  /// The last request before the OOM that lies in an earlier step for certain.
  void find_boundary() {
    const Steps steps = steps_of(recording_, trace_);
    if (steps.source == Steps::Source::markers ||
        (steps.source == Steps::Source::annotations && has_profiler_steps(recording_))) {
      const auto begin = std::ranges::upper_bound(steps.begins, oom());
      if (begin - steps.begins.begin() > 1) boundary_ = last_request_before(*(begin - 1));
      goes_forward_again_ = boundary_.has_value();
    }
    if (boundary_ || !shows_stacks_ || !passes_.are_known()) return;
    std::optional<std::size_t> backward;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const std::uint32_t stack = stack_at(trace_, requests_[i]);
      const bool optimizes = is_of_optimizer(recording_, stack);
      if (is_backward(stack)) {
        backward = i;
      } else if (backward) {
        if (optimizes || used_ > requests_[*backward]) boundary_ = backward;
        goes_forward_again_ |= !optimizes;
      }
    }
  }

  std::optional<std::size_t> last_request_before(std::uint64_t event) const {
    const auto count = std::ranges::lower_bound(requests_, event) - requests_.begin();
    if (count == 0) return std::nullopt;
    return static_cast<std::size_t>(count - 1);
  }

  // The request of an earlier step with most requests before it like those before the OOM; among
  // equals the one with gradients most like those at the OOM, then the latest. A step begins where
  // the likeness ends, or where both would overlap.
  void find_step_before() {
    if (!boundary_) return;
    Numbered<std::uint64_t> shape;
    Numbered<std::pair<std::uint64_t, Bytes>> request;
    std::vector<std::uint64_t> shapes;
    std::vector<std::uint64_t> requests;
    const std::size_t failed = requests_.size() - 1;
    for (std::size_t i = failed + 1; i-- > 0;) {
      shapes.push_back(shape(shape_of(i)));
      requests.push_back(request({shapes.back(), trace_.sizes[requests_[i]]}));
    }
    const std::vector<std::size_t> alike = common_prefixes(requests);
    const std::vector<Bytes> gradients = gradients_before();
    const auto off = [&](std::size_t k) {  // in gradients that are there
      return std::max(gradients[failed], gradients[failed - k]) -
             std::min(gradients[failed], gradients[failed - k]);
    };
    std::size_t period = 0;
    std::size_t count = 0;
    for (std::size_t k = std::max<std::size_t>(1, failed - *boundary_); k <= failed; ++k) {
      const std::size_t here = std::min(alike[k], k);
      if (here < count || (here == count && (period == 0 || off(k) >= off(period)))) continue;
      count = here;
      period = k;
    }
    if (count < kAlike) return;
    begins_alike_ = off(period) == 0;
    pair(requests, shapes, period);
  }

  /// By request: what backward passes asked for and is live right before it.
  std::vector<Bytes> gradients_before() const {
    std::vector<Bytes> before;
    Bytes live = 0;
    for (std::uint64_t event = 0; event <= oom(); ++event) {
      if (is_request(trace_.ops[event])) before.push_back(live);
      const std::uint32_t block = lives_.block_of[event];
      if (block == BlockLives::kNone || !is_backward(lives_.blocks[block].stack)) continue;
      if (trace_.ops[event] == Op::allocate) live += lives_.blocks[block].size;
      if (lives_.blocks[block].freed == event) live -= lives_.blocks[block].size;
    }
    return before;
  }

  // Back from the OOM, `requests` the last first. What an earlier step requested for good (what an
  // optimizer keeps, a workspace) is passed over. Where both go on alike but for sizes, they vary.
  void pair(const std::vector<std::uint64_t>& requests, const std::vector<std::uint64_t>& shapes,
            std::size_t period) {
    const std::size_t failed = requests.size() - 1;
    const auto alike = [&](const std::vector<std::uint64_t>& all, std::size_t here,
                           std::size_t then) {
      const std::size_t to = std::min({here + kAlike, period, here + all.size() - then});
      const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
      return here < to && std::equal(at(here), at(to), at(then));
    };
    std::size_t here = 0;
    std::size_t then = period;
    for (; here < period && then <= failed; ++here, ++then) {
      if (requests[here] != requests[then]) {
        shapes_vary_ = alike(shapes, here, then);
        while (then <= failed && stays(failed - then) && !alike(requests, here, then)) ++then;
        if (then > failed || !alike(requests, here, then)) return;
        shapes_vary_ = false;
      }
      pairs_.emplace_back(failed - then, failed - here);
    }
  }

  /// Its block is never freed.
  bool stays(std::size_t i) const {
    const std::uint32_t block = lives_.block_of[requests_[i]];
    return block != BlockLives::kNone && lives_.blocks[block].freed == BlockLife::kNever;
  }

  /// Who asks, else what was freed since the request before.
  std::uint64_t shape_of(std::size_t i) const {
    if (shows_stacks_) return trace_.stacks[requests_[i]];
    std::uint64_t frees = 0;
    for (std::uint64_t event = requests_[i]; event-- > 0 && !is_request(trace_.ops[event]);) {
      frees += trace_.ops[event] == Op::free || trace_.ops[event] == Op::free_requested ? 1 : 0;
    }
    return frees;
  }

  /// For blocks of the step before that outlive its like request: the blocks of the failed one.
  std::map<std::uint32_t, std::uint32_t> counterparts() const {
    std::map<std::uint32_t, std::uint32_t> now;
    for (const auto& [before, failed] : pairs_) {
      const std::uint32_t then = lives_.block_of[requests_[before]];
      const std::uint32_t here = lives_.block_of[requests_[failed]];
      if (then == BlockLives::kNone || here == BlockLives::kNone) continue;  // an OOM
      const bool alive = lives_.blocks[here].freed == BlockLife::kNever;
      if (lives_.blocks[then].freed > like_oom() && alive) now[then] = here;
    }
    return now;
  }

  const Recording& recording_;
  const Trace& trace_;
  bool shows_stacks_;
  Passes passes_;
  std::vector<std::uint64_t> requests_;  ///< events, the OOM last; empty: no OOM ends the recording
  BlockLives lives_;
  std::vector<bool> backward_;  ///< by stack
  std::uint64_t used_ = 0;      ///< up to here gradients were used
  EarlyEnd::Pass pass_ = EarlyEnd::Pass::forward;
  std::optional<std::size_t> boundary_;  ///< a request of an earlier step
  bool goes_forward_again_ = false;      ///< after a backward pass
  /// Requests of an earlier step and of the failed one that are alike, back from the OOM.
  std::vector<std::pair<std::size_t, std::size_t>> pairs_;
  bool begins_alike_ = true;  ///< with as many gradients
  bool shapes_vary_ = false;  ///< before those alike the steps go on alike with other sizes
};

Bytes peak_requested(const Trace& trace) {
  Bytes live = 0;
  Bytes peak = 0;
  const BlockLives lives = lives_of(trace);
  for (const BlockLife& life : lives.blocks) live += life.existed_before() ? life.size : 0;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::oom) peak = std::max(peak, live + trace.sizes[event]);
    const std::uint32_t block = lives.block_of[event];
    if (block == BlockLives::kNone) continue;
    if (trace.ops[event] == Op::allocate) peak = std::max(peak, live += trace.sizes[event]);
    if (lives.blocks[block].freed == event) live -= lives.blocks[block].size;
  }
  return peak;
}

}  // namespace

std::optional<EarlyEnd> early_end(const Recording& recording, const Trace& trace) {
  const FailedStep failed(recording, trace);
  if (!failed.ends_at_oom()) {
    if (!may_hide_ooms(recording) || trace.size() == 0) return std::nullopt;
    return EarlyEnd{.event = trace.size() - 1, .why = EarlyEnd::Why::oom_untold};
  }
  EarlyEnd end{.event = failed.oom(), .pass = failed.pass()};
  if (failed.repeats_earlier_step()) {
    const bool needs_no_more =
        failed.begins_alike() && peak_requested(failed.completed().trace) <= peak_requested(trace);
    if (needs_no_more) return std::nullopt;
    end.why = EarlyEnd::Why::rest_may_need_more;
  } else if (failed.has_earlier_step()) {
    end.why = EarlyEnd::Why::unlike_earlier;
  } else if (!shows_training(recording) || failed.has_earlier_pass()) {
    end.why = EarlyEnd::Why::steps_unknown;
  }
  return end;
}

RecordingFacts facts_of(const Recording& recording, const Trace& trace) {
  return {early_end(recording, trace), trace.coverage.starts_empty};
}

std::optional<CompletedRecording> with_rest_of_step(const Subject& subject) {
  const FailedStep failed(subject.recording(), subject.trace());
  if (!failed.ends_at_oom() || !failed.repeats_earlier_step()) return std::nullopt;
  return CompletedRecording{
      made_recording(
          subject, failed.completed(),
          "it ends at an OOM, and the rest of that step is assumed to be like the step before"),
      failed.begins_alike()};
}

}  // namespace memreplay
