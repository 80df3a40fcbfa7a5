#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/error.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "extensions/what_if/edit/code_instances.hpp"
#include "extensions/what_if/edit/saved_tensors.hpp"
#include "trace/frame_kind.hpp"

namespace memreplay {
namespace {

// The order of what happens at one place.
constexpr std::uint32_t kPacked = kAfterDeaths;
constexpr std::uint32_t kUnpacked = kAfterDeaths + 1;

/// Moves what a forward pass saves to the host and back.
class Offloading {
 public:
  Offloading(const Recording& recording, const Trace& trace, const Edit& edit,
             const OffloadGuess& guess)
      : recording_(recording),
        edit_(edit),
        guess_(guess),
        course_(recording, trace),
        lives_(lives_of(trace)),
        names_(named_operations(recording)),
        forwards_(trace, lives_, course_.passes(), names_),
        saved_(saved_tensors(course_, forwards_, guess.inputs)),
        rewrite_(trace, course_.lives()),
        meant_(course_.lives().blocks.size(), false),
        moved_(course_.lives().blocks.size(), false) {}

  EditedBlocks make() {
    choose();
    if (facts_.blocks == 0) {
      throw UsageError(
          fmt::format("--edit {}: nothing selected is saved for a backward pass", edit_.text));
    }
    move_out();
    bring_back();
    const auto& how = std::get<OffloadEdit>(edit_.what);
    facts_.edit = edit_.text;
    facts_.moved_bytes = facts_.bytes * 2;
    facts_.remarks.emplace_back(
        "Weights of matrix products and convolutions are moved, too, for each of them; small "
        "parameters, and what else several operations save, a recording does not show.");
    if (how.bandwidth) {
      facts_.moving_seconds = static_cast<double>(facts_.moved_bytes) / *how.bandwidth;
    }
    return {rewrite_.write(), std::move(facts_)};
  }

 private:
  // Code, scopes and steps tell the operations; sizes and lifetimes the tensors that these save.
  void choose() {
    Selector where = edit_.selector;
    where.saved = false;
    where.category.reset();
    where.at_least = 0;
    where.below = UINT64_MAX;
    where.lives_at_least = 0;
    for (const std::uint32_t block : selected(recording_, course_.trace(), lives_, where)) {
      meant_[block] = is_in_layer(block);
    }
    if (guess_.whole_lines && where.names_code()) add_whole_lines();
    Selector what = edit_.selector;
    what.code.clear();
    what.function.reset();
    what.stack.reset();
    what.phase.reset();
    what.step.reset();
    for (const std::uint32_t block : selected(recording_, course_.trace(), lives_, what)) {
      moved_[block] = saved_.held[block] && meant_[saved_.saver[block]];
      facts_.blocks += static_cast<std::uint64_t>(moved_[block]);
    }
  }

  // The lines that call the code, with what they ask for beside it.
  void add_whole_lines() {
    const std::vector<std::vector<std::uint32_t>>& stacks = course_.recording().stacks;
    const CodeFrames code(course_.recording(), edit_.selector);
    const auto frame = [&](std::uint32_t number) -> const Frame& {
      return course_.recording().frames[number];
    };
    const auto is_program = [&](std::uint32_t number) {
      const auto& texts = course_.recording().texts;
      return frame_kind(texts[frame(number).name], texts[frame(number).file]) <= FrameKind::package;
    };
    std::set<std::vector<std::uint32_t>> calls;  // with the frames beyond
    for (std::uint32_t block = 0; block < meant_.size(); ++block) {
      if (!meant_[block]) continue;
      const std::vector<std::uint32_t>& stack = stacks[course_.life(block).stack];
      const auto outermost = std::find_if(stack.rbegin(), stack.rend(), [&](std::uint32_t number) {
                               return code.matches(frame(number));
                             }).base();
      calls.emplace(std::find_if(outermost, stack.end(), is_program), stack.end());
    }
    calls.erase(std::vector<std::uint32_t>());
    for (std::uint32_t block = 0; block < meant_.size(); ++block) {
      const std::vector<std::uint32_t>& stack = stacks[course_.life(block).stack];
      for (auto from = stack.begin(); from != stack.end() && !meant_[block]; ++from) {
        meant_[block] = is_program(*from) && calls.contains({from, stack.end()});
      }
    }
  }

  // In one of the layers that are chosen.
  bool is_in_layer(std::uint32_t block) {
    const auto& only = std::get<OffloadEdit>(edit_.what).only;
    if (!only) return true;
    if (course_.life(block).existed_before()) return false;
    if (instances_.empty()) {
      instances_ = instances_of(course_.recording(), course_.trace(), course_.allocations(),
                                course_.passes(), edit_.selector);
    }
    const std::size_t at = course_.allocation_from(course_.life(block).born);
    const auto next = std::ranges::upper_bound(instances_, at, {}, &CodeInstance::first);
    return next != instances_.begin() && std::prev(next)->place % *only == 0;
  }

  // PyTorch's allocator of pinned memory rounds to powers of two.
  Bytes on_host(Bytes size) const {
    return std::get<OffloadEdit>(edit_.what).pinned ? std::bit_ceil(size) : size;
  }

  // A forward pass ends where a backward pass asks for the first time.
  void move_out() {
    std::vector<std::uint32_t> blocks;
    std::vector<std::uint32_t> operations;
    const auto end_pass = [&](std::uint64_t end) {
      std::vector<bool> moved;
      for (const std::uint32_t block : blocks) moved.push_back(moved_[block]);
      for (const Death& death : deaths_of(course_.recording(), course_.lives(),
                                          {blocks, operations}, moved, end, guess_.deaths)) {
        rewrite_.free_at(death.block, death.spot);
      }
      blocks.clear();
      operations.clear();
    };
    for (std::size_t i = 0; i < course_.allocations().size(); ++i) {
      if (!course_.is_backward(i)) {
        blocks.push_back(course_.block_of(i));
        operations.push_back(course_.operation(i));
      } else if (!blocks.empty()) {
        end_pass(course_.event_of(i));
      }
    }
    end_pass(course_.trace().size());
    for (const Packed& packed : saved_.packed) {
      if (!moved_[packed.like]) continue;
      for (std::uint32_t i = 0; i < packed.count; ++i) {
        const RewritePoint spot{packed.before, kPacked};
        rewrite_.free_at(rewrite_.add(packed.like, packed.size, spot), spot);
      }
    }
  }

  bool comes_back(const Unpacked& tensor) const {
    if (!meant_[tensor.by] || (guess_.once && !tensor.last)) return false;
    if (moved_[tensor.like]) return true;
    // What stays for another operation, or for a variable, is copied all the same.
    const Selector& what = edit_.selector;
    return tensor.size >= what.at_least && tensor.size < what.below && !what.category;
  }

  // A node takes its tensors before it asks for anything, and lets go of them in reverse.
  void bring_back() {
    std::uint64_t pass = 0;  // number of requests that were no backward's
    Bytes there = 0;
    for (const GraphNode& node : saved_.nodes) {
      const std::uint64_t others = course_.passes().others_before(node.begin);
      if (others != pass) there = 0;
      pass = others;
      std::uint32_t order = kUnpacked + static_cast<std::uint32_t>(node.unpacked.size());
      for (const Unpacked& tensor : node.unpacked) {
        --order;
        if (!comes_back(tensor)) continue;
        const RewritePoint begin{node.begin, kUnpacked};
        const std::uint32_t copy = rewrite_.add(tensor.like, tensor.size, begin);
        rewrite_.free_at(copy, std::max(begin, RewritePoint{node.computed, order}));
        facts_.bytes += tensor.size;
        there += on_host(tensor.size);
        facts_.other_memory_peak = std::max(facts_.other_memory_peak, there);
      }
    }
  }

  const Recording& recording_;
  const Edit& edit_;
  const OffloadGuess& guess_;
  ProgramCourse course_;
  BlockLives lives_;
  std::vector<NamedOperation> names_;
  ForwardPasses forwards_;
  SavedTensors saved_;
  Rewrite rewrite_;
  std::vector<bool> meant_;  ///< by block: its operation is one of those that are selected
  std::vector<bool> moved_;  ///< by block
  std::vector<CodeInstance> instances_;
  EditFacts facts_;
};

}  // namespace

EditedBlocks offloaded(const Recording& recording, const Trace& trace, const Edit& edit,
                       const OffloadGuess& guess) {
  return Offloading(recording, trace, edit, guess).make();
}

}  // namespace memreplay
