#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "extensions/what_if/edit/forward_passes.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoValue = BlockLives::kNone;
constexpr Bytes kLeastCast = 1024;  ///< smaller ones are statistics and counters

// The order of what happens at one place.
constexpr std::uint32_t kCopies = 0;      ///< begin, or end with their node
constexpr std::uint32_t kGradients = 2;   ///< are copied to fp32
constexpr std::uint32_t kOriginals = 40;  ///< end, no longer needed

Bytes half_of(Bytes size) { return (size + 1) / 2; }

class Autocasting {
 public:
  Autocasting(const Recording& recording, const Trace& trace, const Edit& edit,
              const AutocastGuess& guess)
      : trace_(trace),
        edit_(edit),
        how_(std::get<AutocastEdit>(edit.what)),
        guess_(guess),
        lives_(lives_of(trace)),
        names_(named_operations(recording)),
        passes_(recording, trace),
        forwards_(trace, lives_, passes_, names_),
        types_(cast_types(recording, trace, lives_, forwards_, guess)),
        rewrite_(trace, lives_),
        done_(lives_.blocks.size(), false) {}

  EditedBlocks make() {
    if (!passes_.are_known()) refuse("inferred from stacks, and this recording has none");
    if (std::ranges::any_of(names_, &NamedOperation::casts))
      refuse("the recorded program runs under autocast already");
    for (const ForwardPass& pass : forwards_.passes()) {
      cast_forward(pass);
      cast_backward(pass);
      ++number_;
    }
    if (products_ == 0)
      refuse("no stack of this recording shows a matrix product, a convolution or attention");
    facts_.edit = edit_.text;
    remark();
    return {rewrite_.write(), std::move(facts_)};
  }

 private:
  [[noreturn]] void refuse(const char* why) const {
    throw UsageError(fmt::format("--edit {}: {}", edit_.text, why));
  }

  const BlockLife& life(std::uint32_t block) const { return lives_.blocks[block]; }
  Bytes size(std::uint32_t block) const { return life(block).size; }
  bool is_half(std::optional<std::uint32_t> block) const { return block && types_.half[*block]; }
  /// The input of operation i of this pass.
  std::optional<std::uint32_t> input_of(std::size_t i) const { return types_.inputs[number_][i]; }

  /// Until when a product's copies live.
  RewritePoint end_of_copies(const ForwardPass& pass, std::size_t i) const {
    const ForwardOperation& operation = pass.operations[i];
    if (operation.node.is_known()) return {operation.node.end, kCopies};
    if (pass.backward.empty() || !input_of(i)) return {operation.end, kCopies};
    const std::uint64_t freed = life(*input_of(i)).freed;
    const bool saved = freed != BlockLife::kNever && freed > pass.end(lives_, trace_.size());
    return {saved ? freed + 1 : operation.end, kCopies};
  }

  void copy(std::uint32_t like, Bytes size, RewritePoint from, RewritePoint to) {
    const std::uint32_t block = rewrite_.add(like, size, from);
    if (to.before != BlockLife::kNever) rewrite_.free_at(block, std::max(from, to));
    copied_ += size;
  }

  void cast_forward(const ForwardPass& pass) {
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
      const ForwardOperation& operation = pass.operations[i];
      for (const std::uint32_t block : operation.blocks) {
        if (types_.half[block]) make_half(block);
      }
      if (operation.copies_attention) rewrite_.drop(operation.result);
      switch (operation.rule) {
        case CastRule::half:
          cast_product(pass, i);
          break;
        case CastRule::single:
          cast_up(pass, i);
          break;
        case CastRule::loss:
          cast_loss(pass, operation);
          break;
        default:
          break;
      }
    }
    end_inputs(pass);
  }

  void make_half(std::uint32_t block) {
    rewrite_.resize(block, half_of(size(block)));
    ++facts_.blocks;
    facts_.bytes += size(block);
  }

  void cast_product(const ForwardPass& pass, std::size_t i) {
    const ForwardOperation& operation = pass.operations[i];
    const RewritePoint begin{operation.begin, kCopies};
    const RewritePoint end = end_of_copies(pass, i);
    ++products_;
    if (guess_.no_workspaces && forwards_.named(operation).convolves)
      drop_workspaces(operation.blocks);
    if (operation.weight > 0 && !(operation.weight_again && how_.cache)) {
      const RewritePoint used =
          forwards_.saves_weight(pass, operation) ? end : RewritePoint{operation.end, kCopies};
      const RewritePoint scope{pass.end(lives_, trace_.size()), kCopies};
      const RewritePoint kept = how_.cache ? std::max(used, scope) : used;
      copy(operation.result, half_of(operation.weight), begin, kept);
      if (operation.gradients.size() == 2) {
        const Bytes bias = std::min(size(operation.gradients[0]), size(operation.gradients[1]));
        copy(operation.result, half_of(bias), begin,
             how_.cache ? scope : RewritePoint{operation.end, kCopies});
      }
      weights_ += half_of(operation.weight);
    }
    unknown_weights_ += operation.weight == 0 && forwards_.named(operation).in_module;
    if (!casts_input(i)) return;
    const std::uint32_t input = *input_of(i);
    const bool again = std::ranges::any_of(operation.blocks, [&](std::uint32_t block) {
      return block != operation.result && types_.half[block] && size(block) == size(input);
    });
    copy(operation.result, half_of(size(input)), begin,
         again ? RewritePoint{operation.end, 0} : end);
  }

  void drop_workspaces(std::span<const std::uint32_t> blocks) {
    for (const std::uint32_t block : blocks) {
      if (forwards_.is_workspace(block) && !done_[block]) rewrite_.drop(block);
    }
  }

  bool casts_input(std::size_t i) const {
    return input_of(i) && !types_.half[*input_of(i)] && size(*input_of(i)) >= kLeastCast;
  }

  // A copy in fp32 of what an operation takes in half precision, saved in its place; an
  // activation function may have saved its result.
  void cast_up(const ForwardPass& pass, std::size_t i) {
    const ForwardOperation& operation = pass.operations[i];
    if (!is_half(input_of(i))) return;
    const std::uint32_t input = *input_of(i);
    const bool saved = !pass.backward.empty() && is_saved(pass, input);
    copy(operation.result, size(input), {operation.begin, kCopies},
         saved ? RewritePoint{life(input).freed + 1, kCopies}
               : RewritePoint{operation.end, kCopies});
    const bool multiplied =
        std::ranges::any_of(pass.operations, [&](const ForwardOperation& other) {
          return other.rule == CastRule::half && other.input == input;
        });
    const auto producer = types_.operation_of.find(input);
    const bool own = producer != types_.operation_of.end() &&
                     pass.operations[producer->second].rule == CastRule::follows;
    if (saved && !multiplied && !own) rewrite_.free_at(input, {operation.end, kOriginals});
  }

  bool is_saved(const ForwardPass& pass, std::uint32_t block) const {
    const std::uint64_t freed = life(block).freed;
    return freed >= pass.end(lives_, trace_.size()) && freed != BlockLife::kNever;
  }

  // nll_loss takes a copy in fp32; its gradient is cast back for log_softmax.
  void cast_loss(const ForwardPass& pass, const ForwardOperation& operation) {
    if (!types_.half[operation.result]) return;
    const Bytes whole = size(operation.result);
    std::vector<std::uint32_t> gradients;
    for (const std::uint32_t block : pass.backward) {
      if (size(block) == whole && !done_[block]) gradients.push_back(block);
      if (gradients.size() == 2) break;
    }
    const RewritePoint begin{operation.end, kCopies};
    if (gradients.size() < 2) {
      copy(operation.result, whole, begin, begin);
      return;
    }
    const std::uint64_t first = life(gradients[0]).born + 1;
    const std::uint64_t second = life(gradients[1]).born;
    copy(operation.result, whole, begin, {first, kCopies});
    copy(gradients[1], half_of(whole), {first, kCopies + 1}, {second + 1, kCopies});
    rewrite_.free_at(gradients[0], {first, kGradients});
    make_half(gradients[1]);
    done_[gradients[0]] = done_[gradients[1]] = true;
  }

  // What only products have saved is no longer needed when the last of them has its copy.
  void end_inputs(const ForwardPass& pass) {
    if (guess_.keeps_inputs || pass.backward.empty()) return;
    std::map<std::uint32_t, std::uint64_t> last;  // end of the last product, by input
    std::set<std::uint32_t> own;                  // freed by a product's backward
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
      const ForwardOperation& operation = pass.operations[i];
      if (operation.rule != CastRule::half || !input_of(i)) continue;
      const std::uint32_t input = *input_of(i);
      if (types_.half[input] || !is_saved(pass, input)) continue;
      last[input] = std::max(last[input], operation.end);
      const BackwardNode& node = operation.node;
      const std::uint64_t freed = life(input).freed;
      if (node.is_known() && node.begin <= freed && freed <= node.end) own.insert(input);
    }
    for (const std::uint32_t input : own) rewrite_.free_at(input, {last.at(input), kOriginals});
  }

  void cast_backward(const ForwardPass& pass) {
    std::vector<std::size_t> nodes;  // operations, in the order of their backward
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
      if (pass.operations[i].node.is_known()) nodes.push_back(i);
    }
    std::ranges::stable_sort(nodes, {},
                             [&](std::size_t i) { return pass.operations[i].node.begin; });
    for (const std::size_t i : nodes) cast_node(pass, i);
    std::set<Bytes> again;  // weights that are used several times: their gradients are summed up
    for (const ForwardOperation& operation : pass.operations) {
      if (operation.weight_again) again.insert(operation.weight);
    }
    for (const std::uint32_t block : pass.backward) {
      if (done_[block] || size(block) < kLeastCast) continue;
      if (again.contains(size(block)) || is_half_gradient(pass, nodes, block)) make_half(block);
    }
  }

  void cast_node(const ForwardPass& pass, std::size_t i) {
    const ForwardOperation& operation = pass.operations[i];
    const BackwardNode& node = operation.node;
    if (i + 1 < pass.operations.size()) {
      const ForwardOperation& next = pass.operations[i + 1];
      const CastRule rule = next.rule;
      const bool single = rule == CastRule::promotes || rule == CastRule::single;
      if (single && !types_.half[next.result] && size(next.result) == size(operation.result)) {
        copy(operation.result, half_of(size(operation.result)), {node.begin, kCopies},
             {node.end, kCopies});
        end_gradient(pass, operation);
      }
    }
    std::uint32_t order = kGradients;
    if (node.input_gradient != kNoValue) {
      if (casts_input(i)) {
        widen(node.input_gradient, node.end, order);
      } else {
        make_half(node.input_gradient);
      }
      done_[node.input_gradient] = true;
    }
    for (const std::uint32_t gradient : operation.gradients) {
      widen(gradient, node.end, order);
      done_[gradient] = true;
    }
    halve_buffers(pass, operation);
    if (!guess_.no_workspaces || !forwards_.named(operation).convolves) return;
    const auto born_from = [&](std::uint64_t event) {
      return std::ranges::lower_bound(pass.backward, event, {},
                                      [&](std::uint32_t block) { return life(block).born; });
    };
    drop_workspaces({born_from(node.begin), born_from(node.end)});
  }

  // A gradient that only this node needs ends when it is cast.
  void end_gradient(const ForwardPass& pass, const ForwardOperation& operation) {
    const BackwardNode& node = operation.node;
    const auto first = std::ranges::lower_bound(
        pass.backward, node.begin, {}, [&](std::uint32_t block) { return life(block).born; });
    for (auto it = first; it != pass.backward.begin();) {
      --it;
      const std::uint64_t freed = life(*it).freed;
      if (freed < node.begin || freed > node.end || done_[*it]) continue;
      if (size(*it) != size(operation.result)) continue;
      rewrite_.free_at(*it, {node.begin, kGradients});
      return;
    }
  }

  // Computed in half precision, then copied to fp32.
  void widen(std::uint32_t gradient, std::uint64_t event, std::uint32_t& order) {
    const std::uint64_t freed = life(gradient).freed;
    rewrite_.resize(gradient, half_of(size(gradient)));
    const std::uint32_t wide = rewrite_.add(gradient, size(gradient), {event, order});
    if (freed != BlockLife::kNever)
      rewrite_.free_at(wide, std::max(RewritePoint{event, order}, RewritePoint{freed, kOriginals}));
    rewrite_.free_at(gradient, {event, order + 1});
    order += 2;
    copied_ += size(gradient);
  }

  // Buffers of a convolution are of one type in both passes.
  void halve_buffers(const ForwardPass& pass, const ForwardOperation& operation) {
    const BackwardNode& node = operation.node;
    const auto from = std::ranges::lower_bound(
        pass.backward, node.begin, {}, [&](std::uint32_t block) { return life(block).born; });
    for (auto it = from; it != pass.backward.end() && life(*it).born < node.end; ++it) {
      if (done_[*it] || life(*it).freed >= node.end) continue;
      const bool buffer = std::ranges::any_of(operation.blocks, [&](std::uint32_t block) {
        return types_.half[block] && block != operation.result && size(block) == size(*it);
      });
      if (!buffer) continue;
      make_half(*it);
      done_[*it] = true;
    }
  }

  // As all values of that size between the products next to it.
  bool is_half_gradient(const ForwardPass& pass, const std::vector<std::size_t>& nodes,
                        std::uint32_t block) const {
    const std::uint64_t born = life(block).born;
    const auto later = std::ranges::upper_bound(
        nodes, born, {}, [&](std::size_t i) { return pass.operations[i].node.begin; });
    const std::size_t from = later == nodes.end() ? 0 : *later;
    std::size_t to = pass.operations.size();
    if (later != nodes.begin()) {
      const std::size_t earlier = *std::prev(later);
      if (born < pass.operations[earlier].node.end) return false;
      to = earlier;
    }
    bool found = false;
    for (std::size_t i = from; i < to; ++i) {
      for (const std::uint32_t value : pass.operations[i].blocks) {
        if (size(value) != size(block) || forwards_.is_workspace(value)) continue;
        if (!types_.half[value] && !guess_.halves_mixed) return false;
        found |= types_.half[value];
      }
    }
    return found;
  }

  void remark() {
    facts_.remarks.push_back(
        fmt::format("Half precision adds copies of weights ({} over all passes) and of inputs and "
                    "gradients ({} in total).",
                    human_size(weights_), human_size(copied_ - weights_)));
    if (unknown_weights_ == 0) return;
    facts_.remarks.push_back(
        fmt::format("Of {} matrix products and convolutions, {} have an unknown weight, whose "
                    "copies are left out.",
                    products_, unknown_weights_));
  }

  const Trace& trace_;
  const Edit& edit_;
  const AutocastEdit& how_;
  const AutocastGuess& guess_;
  BlockLives lives_;
  std::vector<NamedOperation> names_;
  Passes passes_;
  ForwardPasses forwards_;
  CastTypes types_;
  Rewrite rewrite_;
  std::vector<bool> done_;  ///< by block: a gradient that is cast
  std::size_t number_ = 0;  ///< index of the pass under way
  EditFacts facts_;
  std::size_t products_ = 0;
  std::size_t unknown_weights_ = 0;
  Bytes copied_ = 0;
  Bytes weights_ = 0;
};

}  // namespace

EditedBlocks autocasted(const Recording& recording, const Trace& trace, const Edit& edit,
                        const AutocastGuess& guess) {
  return Autocasting(recording, trace, edit, guess).make();
}

}  // namespace memreplay
