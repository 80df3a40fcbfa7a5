#include "analysis/suggest/rest_of_step.hpp"

#include <algorithm>
#include <map>

#include "analysis/edit/selector.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kAlike = 16;  ///< requests, at least, that two steps have in common there

class Continuation {
 public:
  explicit Continuation(const Subject& subject)
      : subject_(subject), trace_(subject.trace()), lives_(lives_of(trace_)) {
    for (std::uint64_t event = 0; event < trace_.size(); ++event) {
      if (!is_request(trace_.ops[event])) continue;
      requests_.push_back(event);
      if (trace_.ops[event] == Op::oom) break;
    }
  }

  std::optional<MadeRecording> make() {
    if (requests_.empty() || trace_.ops[requests_.back()] != Op::oom) return std::nullopt;
    find_step_before();
    if (alike_ < kAlike) return std::nullopt;
    const std::vector<bool> kept = kept_by_optimizer();
    // Of the step before, from there to where the failed one began to be like it.
    const std::uint64_t from = requests_[before_];
    const std::uint64_t to = requests_[requests_.size() - alike_];
    Rewrite rewrite(trace_, lives_);
    std::map<std::uint32_t, std::uint32_t> now = counterparts();
    std::uint32_t order = 0;
    for (std::uint64_t event = from; event < to; ++event) {
      const std::uint32_t block = lives_.block_of[event];
      if (block == BlockLives::kNone) continue;
      const Spot spot{trace_.size(), order++};
      if (trace_.ops[event] == Op::allocate) {
        if (!kept[block]) now[block] = rewrite.add(block, lives_.blocks[block].size, spot);
      } else if (lives_.blocks[block].freed == event) {
        if (const auto found = now.find(block); found != now.end()) {
          rewrite.free_at(found->second, spot);
        }
      }
    }
    return made_recording(subject_, rewrite.write(),
                          "it ends at its failure, and the rest of the step is that of the step "
                          "before");
  }

 private:
  bool are_alike(std::size_t a, std::size_t b) const {
    const std::uint64_t one = requests_[a];
    const std::uint64_t other = requests_[b];
    return trace_.sizes[one] == trace_.sizes[other] &&
           stack_at(trace_, one) == stack_at(trace_, other);
  }

  // The earlier request with most requests before it like those before the failed one; of equals
  // the latest. A step begins where the likeness ends, or where they would overlap.
  void find_step_before() {
    const std::size_t failed = requests_.size() - 1;
    for (std::size_t i = failed; i-- > 0;) {
      if (!are_alike(i, failed)) continue;
      std::size_t count = 1;
      while (count <= i && count < failed - i && are_alike(i - count, failed - count)) ++count;
      if (count > alike_) {
        alike_ = count;
        before_ = i;
      }
    }
  }

  /// Of blocks of the step before that outlive its like request: the blocks of the failed one.
  std::map<std::uint32_t, std::uint32_t> counterparts() const {
    std::map<std::uint32_t, std::uint32_t> now;
    for (std::size_t k = 1; k < alike_; ++k) {
      const std::uint32_t then = lives_.block_of[requests_[before_ - k]];
      const std::uint32_t here = lives_.block_of[requests_[requests_.size() - 1 - k]];
      const bool alive = lives_.blocks[here].freed == BlockLife::kNever;
      if (lives_.blocks[then].freed > requests_[before_] && alive) now[then] = here;
    }
    return now;
  }

  std::vector<bool> kept_by_optimizer() const {
    std::vector<bool> kept(lives_.blocks.size(), false);
    Selector states;
    states.category = Category::optimizer_state;
    for (const std::uint32_t block : selected(subject_.recording(), trace_, lives_, states)) {
      kept[block] = true;
    }
    return kept;
  }

  const Subject& subject_;
  const Trace& trace_;
  BlockLives lives_;
  std::vector<std::uint64_t> requests_;  ///< up to the failed one
  std::size_t before_ = 0;               ///< the request of the step before that is like it
  std::size_t alike_ = 0;
};

}  // namespace

std::optional<MadeRecording> with_rest_of_step(const Subject& subject) {
  return Continuation(subject).make();
}

}  // namespace memreplay
