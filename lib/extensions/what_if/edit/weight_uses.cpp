#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "extensions/what_if/edit/forward_passes.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoInput = BlockLives::kNone;
constexpr Bytes kElement = 4;
constexpr Bytes kLeastMatrix = 16 * kKiB;  ///< that is told by its size alone
constexpr std::size_t kLongestNode = 128;  ///< requests of one backward node, at most

/// Rows of a matrix product: `input` has rows · in elements, `result` rows · out, `weight` in ·
/// out. 0: they do not fit.
std::uint64_t product_rows(Bytes input, Bytes result, Bytes weight) {
  const double x = static_cast<double>(input / kElement);
  const double y = static_cast<double>(result / kElement);
  const Bytes w = weight / kElement;
  if (w == 0) return 0;
  const auto rows =
      static_cast<std::uint64_t>(std::llround(std::sqrt(x * y / static_cast<double>(w))));
  if (rows == 0 || (input / kElement) % rows != 0 || (result / kElement) % rows != 0) return 0;
  return (input / kElement / rows) * (result / kElement / rows) == w ? rows : 0;
}

/// The input of a matrix product that has a bias: the others have out, and in · out elements.
Bytes input_size(Bytes result, Bytes weight, Bytes bias) {
  return result / bias * (weight / bias) * kElement;
}

class WeightFinder {
 public:
  WeightFinder(ForwardPass& pass, const KnownProgram& program)
      : pass_(pass),
        trace_(program.trace),
        lives_(program.lives),
        names_(program.names),
        nodes_(program.nodes),
        parameters_(program.parameters) {
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
      recent_.push_back(recent_results(pass, i, lives_));
    }
    if (pass.backward.empty()) return;
    const std::uint64_t end = life(pass.backward.back()).born;
    for (const std::uint32_t block : pass.backward) {
      if (life(block).freed > end && std::ranges::binary_search(parameters_, size(block)))
        gradients_.push_back(block);
    }
  }

  void find() {
    vote();
    find_unnamed();
    if (gradients_.empty()) {
      find_by_rows();
      return;
    }
    match_gradients();
    find_used_again();
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      ForwardOperation& operation = pass_.operations[i];
      if (operation.weight == 0 || operation.weight_again) continue;
      operation.input = input_of(i);
      operation.node = node_of(operation);
    }
  }

 private:
  struct Candidate {
    std::uint64_t rows = 0;
    Bytes weight = 0;
    std::uint32_t input = kNoInput;
  };

  const BlockLife& life(std::uint32_t block) const { return lives_.blocks[block]; }
  Bytes size(std::uint32_t block) const { return life(block).size; }
  const NamedOperation& named(const ForwardOperation& operation) const {
    return names_[operation.stack];
  }
  bool multiplies(const ForwardOperation& operation) const {
    return operation.rule == CastRule::half;
  }

  std::size_t node_of_gradient(std::size_t i) const {
    return i < gradients_.size() ? node_at(nodes_, life(gradients_[i]).born) : SIZE_MAX;
  }

  /// Whether they are all of one node; more than two are of several, none of which was told apart.
  bool belong_together(std::size_t from, std::size_t to) const {
    const std::size_t node = node_of_gradient(from);
    if (node_of_gradient(to - 1) != node) return false;
    std::size_t all = to - from;
    for (std::size_t i = from; i-- > 0 && node_of_gradient(i) == node;) ++all;
    for (std::size_t i = to; node_of_gradient(i) == node; ++i) ++all;
    return all == to - from || all > 2;
  }

  /// How well the next gradients fit as those of the operation; 0: they do not.
  double fit(std::size_t index, std::span<const std::uint32_t> gradients) const {
    const ForwardOperation& operation = pass_.operations[index];
    const Bytes result = size(operation.result);
    Bytes weight = size(gradients.front());
    if (!multiplies(operation)) {
      if (gradients.size() == 1) {
        return weight <= result || named(operation).has_parameters ? 0.5 : 0;
      }
      return weight == size(gradients.back()) && weight <= result && result % weight == 0 ? 1.5 : 0;
    }
    if (operation.attends) return 0;
    const bool convolves = named(operation).convolves;
    const auto is_recent = [&](Bytes wanted) {
      return std::ranges::any_of(recent_[index],
                                 [&](std::uint32_t block) { return size(block) == wanted; });
    };
    if (gradients.size() == 2) {
      Bytes bias = size(gradients.back());
      if (convolves && bias > weight) std::swap(weight, bias);
      if (bias >= weight || weight % bias != 0 || result % bias != 0) return 0;
      if (convolves) return 2.5;
      return is_recent(input_size(result, weight, bias)) ? 3 : 0;
    }
    if (convolves) {
      const std::uint32_t before = request_before(gradients.front());
      return before != kNoInput && is_recent(size(before)) ? 1.7 : 0.7;
    }
    return std::ranges::any_of(
               recent_[index],
               [&](std::uint32_t block) { return product_rows(size(block), result, weight) > 0; })
               ? 2
               : 0;
  }

  /// The last block of the backward pass that was asked for before `block` and is still there.
  std::uint32_t request_before(std::uint32_t block) const {
    auto at = std::ranges::lower_bound(pass_.backward, block);
    while (at != pass_.backward.begin()) {
      --at;
      if (life(*at).alive_at(life(block).born)) return *at;
    }
    return kNoInput;
  }

  // The gradients in their order to the operations from the last one, so that the sum of what fits
  // is largest.
  void match_gradients() {
    std::vector<std::size_t> operations;
    for (std::size_t i = pass_.operations.size(); i-- > 0;) {
      const CastRule rule = pass_.operations[i].rule;
      if (rule == CastRule::half || rule == CastRule::single ||
          named(pass_.operations[i]).has_parameters)
        operations.push_back(i);
    }
    const std::size_t count = operations.size();
    const std::size_t width = gradients_.size() + 1;
    enum Step : std::uint8_t { skip_operation, skip_gradient, take_one, take_two };
    std::vector<double> best(width, 0);  // by gradient, for the operations after this one
    std::vector<Step> steps(count * width, skip_operation);
    for (std::size_t a = count; a-- > 0;) {
      std::vector<double> row(width, 0);
      for (std::size_t b = width; b-- > 0;) {
        Step& step = steps[a * width + b];
        row[b] = best[b];
        if (b + 1 < width && row[b + 1] > row[b]) {
          row[b] = row[b + 1];
          step = skip_gradient;
        }
        for (std::size_t taken = 1; taken <= 2 && b + taken < width; ++taken) {
          if (!belong_together(b, b + taken)) continue;
          const double fits = fit(operations[a], std::span(gradients_).subspan(b, taken));
          if (fits == 0 || fits + best[b + taken] <= row[b]) continue;
          row[b] = fits + best[b + taken];
          step = taken == 1 ? take_one : take_two;
        }
      }
      best = std::move(row);
    }
    for (std::size_t a = 0, b = 0; a < count;) {
      const Step step = steps[a * width + b];
      if (step == skip_gradient) {
        ++b;
        continue;
      }
      if (step != skip_operation) {
        take(pass_.operations[operations[a]], b, step == take_one ? 1 : 2);
        b += step == take_one ? 1 : 2;
      }
      ++a;
    }
  }

  void take(ForwardOperation& operation, std::size_t from, std::size_t count) {
    if (!multiplies(operation)) return;
    for (std::size_t i = from; i < from + count; ++i) {
      operation.gradients.push_back(gradients_[i]);
      operation.weight = std::max(operation.weight, size(gradients_[i]));
    }
  }

  // A layer that runs several times has one gradient.
  void find_used_again() {
    std::map<std::pair<std::uint32_t, Bytes>, Bytes> weights;  // by call and size of the result
    for (const ForwardOperation& operation : pass_.operations) {
      if (operation.weight == 0) continue;
      weights.try_emplace({named(operation).call, size(operation.result)}, operation.weight);
    }
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      ForwardOperation& operation = pass_.operations[i];
      if (operation.weight > 0 || !multiplies(operation) || !named(operation).in_module) continue;
      const auto same = weights.find({named(operation).call, size(operation.result)});
      if (same == weights.end()) continue;
      operation.weight = same->second;
      operation.weight_again = true;
      operation.input = input_of(i);
    }
  }

  std::uint32_t input_of(std::size_t index) const {
    const ForwardOperation& operation = pass_.operations[index];
    const std::vector<std::uint32_t>& recent = recent_[index];
    const auto find = [&](auto fits) {
      const auto found = std::ranges::find_if(recent, fits);
      return found == recent.end() ? kNoInput : *found;
    };
    std::uint32_t input = kNoInput;
    if (operation.gradients.size() == 2) {
      const Bytes bias = std::min(size(operation.gradients[0]), size(operation.gradients[1]));
      const Bytes wanted = input_size(size(operation.result), operation.weight, bias);
      input = find([&](std::uint32_t block) { return size(block) == wanted; });
    }
    if (input == kNoInput) {
      input = find([&](std::uint32_t block) {
        return product_rows(size(block), size(operation.result), operation.weight) > 0;
      });
    }
    if (input != kNoInput || recent.empty()) return input;
    if (!operation.gradients.empty()) {
      const std::uint32_t before = request_before(operation.gradients.front());
      if (before != kNoInput)
        input = find([&](std::uint32_t block) { return size(block) == size(before); });
    }
    return input == kNoInput ? recent.front() : input;
  }

  // From its first gradient to the request after its last one, workspaces and staged sums included.
  BackwardNode node_of(const ForwardOperation& operation) const {
    BackwardNode node{.input_gradient = input_gradient_of(operation)};
    std::vector<std::uint32_t> own = operation.gradients;
    if (node.input_gradient != kNoInput) own.push_back(node.input_gradient);
    node.begin = life(std::ranges::min(own)).born;
    std::size_t next = place_of(std::ranges::max(own)) + 1;
    while (true) {
      const bool workspace = is_freed_by(next, next + 1);
      const bool sum = is_freed_by(next, next + 2) && is_freed_by(next + 1, next + 2);
      if (!workspace && !sum) break;
      next += workspace ? 1 : 2;
    }
    node.end = born_at(next);
    return node;
  }

  std::size_t place_of(std::uint32_t block) const {
    const auto found = std::ranges::lower_bound(pass_.backward, block);
    return static_cast<std::size_t>(found - pass_.backward.begin());
  }

  /// The event of a request of the backward pass; after its last one, of that which follows.
  std::uint64_t born_at(std::size_t place) const {
    if (place < pass_.backward.size()) return life(pass_.backward[place]).born;
    std::uint64_t event = life(pass_.backward.back()).born + 1;
    while (event < trace_.size() && trace_.ops[event] != Op::allocate) ++event;
    return event;
  }

  bool is_freed_by(std::size_t place, std::size_t later) const {
    return place < pass_.backward.size() && life(pass_.backward[place]).freed < born_at(later);
  }

  // Asked for right before the gradient of the weight, of a product without bias right behind it.
  std::uint32_t input_gradient_of(const ForwardOperation& operation) const {
    if (operation.input == kNoInput) return kNoInput;
    const bool behind = operation.gradients.size() == 1 && !named(operation).convolves;
    const std::uint32_t later = behind ? neighbour(operation, 1) : kNoInput;
    return later != kNoInput ? later : neighbour(operation, -1);
  }

  /// The next request of the node that is no workspace, if it is as large as the input.
  std::uint32_t neighbour(const ForwardOperation& operation, std::ptrdiff_t step) const {
    const std::uint32_t gradient = operation.gradients.front();
    const std::size_t node = node_at(nodes_, life(gradient).born);
    auto place = static_cast<std::ptrdiff_t>(place_of(gradient));
    for (std::size_t i = 0; i < kLongestNode; ++i) {
      place += step;
      if (place < 0 || static_cast<std::size_t>(place) >= pass_.backward.size()) break;
      const std::uint32_t block = pass_.backward[static_cast<std::size_t>(place)];
      if (node_at(nodes_, life(block).born) != node) break;
      if (life(block).freed < born_at(static_cast<std::size_t>(place) + 1)) continue;
      if (step < 0 && life(block).freed < life(gradient).born) continue;
      return size(block) == size(operation.input) ? block : kNoInput;
    }
    return kNoInput;
  }

  // One number of rows, such as tokens in a batch, is that of most products with a weight.
  void vote() {
    candidates_.resize(pass_.operations.size());
    inputs_.resize(pass_.operations.size());
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      if (!multiplies(pass_.operations[i])) continue;
      inputs_[i] = inputs_of(i);
      candidates_[i] = candidates_of(pass_.operations[i], inputs_[i]);
      std::set<std::uint64_t> rows;
      if (named(pass_.operations[i]).convolves) continue;
      for (const Candidate& candidate : candidates_[i]) rows.insert(candidate.rows);
      for (const std::uint64_t number : rows) most_ = std::max(most_, ++votes_[number]);
    }
  }

  std::size_t votes_of(std::uint64_t rows) const {
    const auto found = votes_.find(rows);
    return found == votes_.end() ? 0 : found->second;
  }

  // Products that no frame names, such as x @ w.
  void find_unnamed() {
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      ForwardOperation& operation = pass_.operations[i];
      const bool known = operation.rule != CastRule::promotes || named(operation).by_operator;
      const auto results = std::ranges::count_if(operation.blocks, [&](std::uint32_t block) {
        return life(block).alive_at(operation.end);
      });
      if (known || recent_[i].empty() || results > 1) continue;
      const std::uint32_t input = recent_[i].front();
      if (size(input) == size(operation.result)) continue;
      std::vector<Candidate> candidates = candidates_of(operation, {input});
      std::erase_if(candidates, [&](const Candidate& one) { return votes_of(one.rows) < most_; });
      if (most_ == 0 || candidates.empty()) continue;
      operation.rule = CastRule::half;
      candidates_[i] = std::move(candidates);
    }
  }

  void find_by_rows() {
    for (std::size_t i = 0; i < pass_.operations.size(); ++i) {
      const Candidate* chosen = nullptr;
      for (const Candidate& candidate : candidates_[i]) {
        if (2 * votes_of(candidate.rows) < most_) continue;
        if (chosen == nullptr || votes_of(candidate.rows) > votes_of(chosen->rows))
          chosen = &candidate;
      }
      if (chosen == nullptr) continue;
      pass_.operations[i].weight = chosen->weight;
      pass_.operations[i].input = chosen->input;
    }
  }

  // The value before it, or what a product shortly before it took.
  std::vector<std::uint32_t> inputs_of(std::size_t index) const {
    constexpr std::size_t kShortly = 7;
    std::vector<std::uint32_t> found;
    if (!recent_[index].empty()) found.push_back(recent_[index].front());
    for (std::size_t i = index; i-- > 0 && i + kShortly >= index;) {
      for (const std::uint32_t block : inputs_[i]) {
        const bool there = life(block).alive_at(pass_.operations[index].begin);
        if (there && std::ranges::find(found, block) == found.end()) found.push_back(block);
      }
    }
    return found;
  }

  std::vector<Candidate> candidates_of(const ForwardOperation& operation,
                                       const std::vector<std::uint32_t>& inputs) const {
    std::vector<Candidate> candidates;
    for (const std::uint32_t input : inputs) {
      for (const Bytes weight : parameters_) {
        if (weight < kLeastMatrix) continue;
        const std::uint64_t rows = product_rows(size(input), size(operation.result), weight);
        const bool vectors =
            rows * kElement == size(input) || rows * kElement == size(operation.result);
        if (rows > 1 && !vectors) candidates.push_back({rows, weight, input});
      }
    }
    return candidates;
  }

  ForwardPass& pass_;
  const Trace& trace_;
  const BlockLives& lives_;
  const std::vector<NamedOperation>& names_;
  const std::vector<NodeSpan>& nodes_;
  const std::vector<Bytes>& parameters_;
  std::vector<std::vector<std::uint32_t>> recent_;  ///< by operation
  std::vector<std::uint32_t> gradients_;            ///< gradients of parameters, by birth
  std::vector<std::vector<Candidate>> candidates_;  ///< by operation
  std::vector<std::vector<std::uint32_t>> inputs_;  ///< likewise: what it may have taken
  std::map<std::uint64_t, std::size_t> votes_;      ///< operations, by rows
  std::size_t most_ = 0;
};

}  // namespace

void find_weights(ForwardPass& pass, const KnownProgram& program) {
  WeightFinder(pass, program).find();
}

}  // namespace memreplay
