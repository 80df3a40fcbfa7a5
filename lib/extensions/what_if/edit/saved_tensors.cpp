#include "extensions/what_if/edit/saved_tensors.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace memreplay {
namespace {

constexpr std::uint32_t kNoBlock = BlockLives::kNone;
constexpr std::uint64_t kMostParts = 3;

class TensorFinder {
 public:
  TensorFinder(const ProgramCourse& course, const ForwardPasses& forwards, HeldInputs inputs)
      : course_(course), forwards_(forwards), inputs_(inputs) {
    const std::size_t blocks = course.lives().blocks.size();
    operation_of_.assign(blocks, {0, kNoOperation});
    found_.held.assign(blocks, false);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      found_.held[block] = course.passes().is_saved(course.life(block));
      found_.saver.push_back(block);
    }
    for (std::size_t pass = 0; pass < forwards.passes().size(); ++pass) {
      const std::vector<ForwardOperation>& operations = forwards.passes()[pass].operations;
      for (std::size_t i = 0; i < operations.size(); ++i) {
        for (const std::uint32_t block : operations[i].blocks) operation_of_[block] = {pass, i};
      }
    }
  }

  SavedTensors find() {
    find_variables();
    find_nodes();
    for (std::size_t node = 0; node < freed_.size(); ++node) name_savers(node);
    for (std::size_t pass = 0; pass < forwards_.passes().size(); ++pass) {
      const std::vector<ForwardOperation>& operations = forwards_.passes()[pass].operations;
      for (std::size_t i = 0; i < operations.size(); ++i) unpack_product(pass, i);
    }
    std::ranges::sort(found_.packed, {}, &Packed::before);
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kNoOperation = ForwardOperation::kNoOperation;
  using Place = std::pair<std::size_t, std::size_t>;  ///< pass and operation

  const BlockLife& life(std::uint32_t block) const { return course_.life(block); }
  Bytes size(std::uint32_t block) const { return life(block).size; }
  const ForwardOperation& operation(const Place& place) const {
    return forwards_.passes()[place.first].operations[place.second];
  }

  // Nodes run in the reverse order of the operations. What goes after the last request of a
  // backward pass and came later than what went before was held by a variable.
  void find_variables() {
    const Passes& passes = course_.passes();
    const std::uint64_t end = course_.trace().size();
    std::uint64_t earliest = end;             // birth of what the pass under way has let go of
    std::vector<std::uint32_t> last;          // freed since its last request
    std::uint64_t begin = BlockLife::kNever;  // that pass's
    const auto take = [&] {
      for (const std::uint32_t block : last) earliest = std::min(earliest, life(block).born);
      last.clear();
    };
    const auto end_pass = [&] {
      for (const std::uint32_t block : last) {
        const bool out_of_order = life(block).born > earliest;
        const bool by_line = is_of_other_line(block, begin);
        const bool held = inputs_ == HeldInputs::by_line ? by_line : !by_line;
        if (out_of_order || held) found_.held[block] = false;
      }
      last.clear();
      earliest = end;
      begin = BlockLife::kNever;
    };
    for (std::uint64_t event = 0; event < end; ++event) {
      if (course_.trace().ops[event] == Op::allocate) {
        const bool backward = passes.is_backward(stack_at(course_.trace(), event));
        if (!backward) end_pass();
        if (backward) take();
        if (backward && begin == BlockLife::kNever) begin = event;
      } else if (const std::uint32_t block = course_.freed_at(event);
                 block != kNoBlock && found_.held[block]) {
        last.push_back(block);
      }
    }
    end_pass();
  }

  // The function that calls the backward pass, or one that calls it, made the block in another line
  // than that of the first product.
  bool is_of_other_line(std::uint32_t block, std::uint64_t backward) const {
    if (backward == BlockLife::kNever || life(block).existed_before()) return false;
    std::optional<std::uint32_t> product;
    for (const ForwardPass& pass : forwards_.passes()) {
      if (pass.backward.empty() || life(pass.backward.front()).born != backward) continue;
      const auto first =
          std::ranges::find(pass.operations, CastRule::half, &ForwardOperation::rule);
      if (first != pass.operations.end()) product = life(first->result).stack;
    }
    if (!product) return false;
    const std::uint32_t call = course_.life(course_.lives().block_of[backward]).stack;
    return in_common(life(block).stack, *product) <= in_common(call, *product);
  }

  // Outermost frames.
  std::size_t in_common(std::uint32_t one, std::uint32_t two) const {
    const Recording& recording = course_.recording();
    const std::vector<std::uint32_t>& a = recording.stacks[one];
    const std::vector<std::uint32_t>& b = recording.stacks[two];
    std::size_t count = 0;
    while (count < a.size() && count < b.size() &&
           recording.frames[a[a.size() - 1 - count]] == recording.frames[b[b.size() - 1 - count]]) {
      ++count;
    }
    return count;
  }

  // A product's node ends with its own requests: what comes to it may be needed further on, so that
  // nothing is freed there.
  void find_nodes() {
    std::set<std::uint64_t> begins;
    for (const NodeSpan& span : forwards_.nodes()) begins.insert(span.begin);
    for (const ForwardPass& pass : forwards_.passes()) {
      for (const ForwardOperation& product : pass.operations) {
        if (!is_matched(product)) continue;
        begins.insert(product.node.begin);
        const std::size_t span = node_at(forwards_.nodes(), product.node.begin);
        if (product.node.end < forwards_.nodes()[span].computed) begins.insert(product.node.end);
      }
    }
    for (const std::uint64_t begin : begins) {
      const NodeSpan& span = forwards_.nodes()[node_at(forwards_.nodes(), begin)];
      if (!found_.nodes.empty())
        found_.nodes.back().computed = std::min(found_.nodes.back().computed, begin);
      found_.nodes.push_back({.begin = begin, .computed = span.computed, .unpacked = {}});
    }
    // What the graph lets go of when a node ends.
    freed_.resize(found_.nodes.size());
    for (std::uint32_t block = 0; block < found_.held.size(); ++block) {
      if (!found_.held[block]) continue;
      const std::size_t node = node_of(life(block).freed);
      if (node < freed_.size()) freed_[node].push_back(block);
    }
  }

  static bool is_matched(const ForwardOperation& product) {
    return product.node.is_known() && !product.gradients.empty();
  }

  std::size_t node_of(std::uint64_t event) const {
    const auto next = std::ranges::upper_bound(found_.nodes, event, {}, &GraphNode::begin);
    return static_cast<std::size_t>(next - found_.nodes.begin()) - 1;
  }

  void unpack(std::size_t node, const Unpacked& tensor) {
    found_.nodes[node].unpacked.push_back(tensor);
  }

  // What goes at once was saved by one operation, when the last of it was there.
  void name_savers(std::size_t node) {
    const std::vector<std::uint32_t>& freed = freed_[node];
    if (freed.empty()) return;
    const std::uint32_t last = freed.back();
    const Place place = operation_of_[last];
    const bool known = place.second != kNoOperation;
    for (const std::uint32_t block : freed) found_.saver[block] = last;
    const auto parts = [&](std::uint32_t block) -> std::uint64_t {
      if (!known || !operation(place).attends) return 1;
      const Bytes result = size(operation(place).result);
      const std::uint64_t count = result == 0 ? 1 : size(block) / result;
      const bool packs = count > 1 && count <= kMostParts && size(block) % result == 0;
      return packs ? count : 1;
    };
    // What an operation makes beside its result, it keeps for its own backward, with its input.
    const bool beside =
        known && last != operation(place).result && size(last) * 4 != size(operation(place).result);
    if (beside) {
      const std::vector<std::uint32_t> recent =
          recent_results(forwards_.passes()[place.first], place.second, course_.lives());
      if (!recent.empty() && !std::ranges::binary_search(freed, recent.front()))
        unpack(node, {.like = recent.front(), .size = size(recent.front()), .by = last});
    }
    for (const std::uint32_t block : freed) {
      const std::uint64_t count = parts(block);
      for (std::uint64_t i = 0; i < count; ++i)
        unpack(node, {.like = block, .size = size(block) / count, .by = last, .last = true});
      if (count < 2) continue;
      found_.packed.push_back({.before = operation(place).begin,
                               .like = block,
                               .size = size(block) / count,
                               .count = static_cast<std::uint32_t>(count)});
    }
  }

  void unpack_product(std::size_t pass, std::size_t i) {
    const ForwardPass& in = forwards_.passes()[pass];
    const ForwardOperation& product = in.operations[i];
    if (!is_matched(product)) return;
    const std::size_t number = node_of(product.node.begin);
    GraphNode& node = found_.nodes[number];
    const bool convolves = forwards_.named(product).convolves;
    if (product.gradients.size() == 2 && !convolves) {
      const auto [a, b] = std::pair(product.gradients[0], product.gradients[1]);
      const std::uint32_t bias = size(a) < size(b) ? a : b;
      if (bias > std::min(a, b)) node.computed = std::min(node.computed, life(bias).born);
    }
    if (product.input != kNoBlock) {
      if (std::ranges::binary_search(freed_[number], product.input)) {
        found_.saver[product.input] = product.result;
        for (Unpacked& one : node.unpacked) {
          if (one.like == product.input) one.by = product.result;
        }
      } else {
        unpack(number, {.like = product.input, .size = size(product.input), .by = product.result});
      }
    }
    if (!forwards_.saves_weight(in, product)) return;
    const bool first = product.gradients.size() == 1 && !convolves;
    std::vector<Unpacked>& unpacked = node.unpacked;
    unpacked.insert(first ? unpacked.begin() : unpacked.end(),
                    {.like = product.result, .size = product.weight, .by = product.result});
  }

  const ProgramCourse& course_;
  const ForwardPasses& forwards_;
  HeldInputs inputs_;
  std::vector<Place> operation_of_;                ///< by block
  std::vector<std::vector<std::uint32_t>> freed_;  ///< by node
  SavedTensors found_;
};

}  // namespace

SavedTensors saved_tensors(const ProgramCourse& course, const ForwardPasses& forwards,
                           HeldInputs inputs) {
  return TensorFinder(course, forwards, inputs).find();
}

}  // namespace memreplay
