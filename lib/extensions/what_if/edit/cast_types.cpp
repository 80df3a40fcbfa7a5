#include <algorithm>
#include <utility>

#include "extensions/what_if/edit/forward_passes.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kUnnamedInput = BlockLives::kNone;
constexpr Bytes kLeastElements = 64;

class CastTyping {
 public:
  CastTyping(const Recording& recording, const Trace& trace, const BlockLives& lives,
             const ForwardPasses& forwards, const AutocastGuess& guess)
      : recording_(recording), trace_(trace), lives_(lives), forwards_(forwards), guess_(guess) {
    types_.half.assign(lives.blocks.size(), false);
  }

  CastTypes find() {
    for (const ForwardPass& pass : forwards_.passes()) type(pass);
    return std::move(types_);
  }

 private:
  const BlockLife& life(std::uint32_t block) const { return lives_.blocks[block]; }
  Bytes size(std::uint32_t block) const { return life(block).size; }

  void type(const ForwardPass& pass) {
    auto& inputs = types_.inputs.emplace_back(pass.operations.size());
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
      const ForwardOperation& operation = pass.operations[i];
      for (const std::uint32_t block : operation.blocks) types_.operation_of[block] = i;
      const std::vector<std::uint32_t> recent = recent_results(pass, i, lives_);
      if (operation.input != kUnnamedInput) {
        inputs[i] = operation.input;
      } else if (!recent.empty()) {
        inputs[i] = recent.front();
      }
      switch (operation.rule) {
        case CastRule::none:
        case CastRule::single:
          break;
        case CastRule::half:
          type_product(operation, inputs[i]);
          break;
        case CastRule::loss:
          types_.half[operation.result] = is_half(inputs[i]);
          break;
        case CastRule::follows:
          for (const std::uint32_t block : operation.blocks) {
            if (size(block) == size(operation.result)) types_.half[block] = is_half(inputs[i]);
          }
          break;
        case CastRule::promotes:
          type_unnamed(pass, i, recent);
          break;
      }
    }
  }

  bool is_half(std::optional<std::uint32_t> block) const { return block && types_.half[*block]; }

  void type_product(const ForwardOperation& operation, std::optional<std::uint32_t> input) {
    types_.half[operation.result] = true;
    for (const std::uint32_t block : operation.blocks) {
      if (block == operation.result || size(block) < kLeastElements) continue;
      const bool ends = !life(block).alive_at(operation.end);
      const bool copy = !ends && input && size(block) == size(*input);
      types_.half[block] = copy || (ends && !forwards_.is_workspace(block));
    }
  }

  void type_unnamed(const ForwardPass& pass, std::size_t i,
                    const std::vector<std::uint32_t>& recent) {
    const ForwardOperation& operation = pass.operations[i];
    for (auto block = operation.blocks.begin(); block != operation.blocks.end(); ++block) {
      if (size(*block) < kLeastElements) continue;
      std::vector<std::uint32_t> operands;
      for (auto own = block; own != operation.blocks.begin();) {
        --own;
        if (size(*own) >= kLeastElements && life(*own).alive_at(life(*block).born))
          operands.push_back(*own);
      }
      for (const std::uint32_t result : recent) {
        if (life(result).alive_at(life(*block).born)) operands.push_back(result);
      }
      types_.half[*block] = returns_half(pass, i, *block, operands);
    }
  }

  // What is larger than all that is at hand holds several of them, and no parameter.
  // An operand of an equal size that is not saved shows a sum, with something older that the
  // program had at hand in that function.
  bool returns_half(const ForwardPass& pass, std::size_t i, std::uint32_t block,
                    const std::vector<std::uint32_t>& operands) const {
    if (operands.empty()) return false;
    const std::uint32_t last = operands.front();
    const bool concatenates = std::ranges::all_of(
        operands, [&](std::uint32_t operand) { return size(operand) < size(block); });
    if (concatenates) return types_.half[last];
    if (guess_.unnamed == AutocastGuess::Unnamed::single) return false;
    std::vector<std::uint32_t> same;
    for (const std::uint32_t operand : operands) {
      if (size(operand) == size(block)) same.push_back(operand);
    }
    if (same.empty() || size(last) > size(block)) return types_.half[last];
    if (same.front() != last) return types_.half[same.front()];
    if (!types_.half[last] || guess_.unnamed == AutocastGuess::Unnamed::half)
      return types_.half[last];
    const bool saved =
        !pass.backward.empty() && life(last).alive_at(pass.end(lives_, trace_.size()));
    if (saved) return true;
    for (std::size_t k = 1; k < same.size(); ++k) {
      const std::size_t other = types_.operation_of.at(same[k]);
      const bool inside = other != i && (pass.operations[other].attends ||
                                         is_inside(pass, other, pass.operations[i]));
      if (inside) continue;
      return types_.half[same[k]];
    }
    return true;
  }

  // Whether the other one was asked for by what the operation's function calls, on its line or
  // after it, or is not returned by that.
  bool is_inside(const ForwardPass& pass, std::size_t other,
                 const ForwardOperation& operation) const {
    const auto& outer = forwards_.named(operation).python;
    const auto call_in = [&](std::size_t number) -> const std::uint32_t* {
      const auto& frames = forwards_.named(pass.operations[number]).python;
      if (outer.empty() || frames.size() <= outer.size()) return nullptr;
      const std::uint32_t* const call = &frames[frames.size() - outer.size()];
      if (!std::equal(outer.begin() + 1, outer.end(), call + 1)) return nullptr;
      const Frame& one = recording_.frames[*call];
      const Frame& two = recording_.frames[outer.front()];
      return one.file == two.file && one.name == two.name ? call : nullptr;
    };
    const std::uint32_t* const call = call_in(other);
    if (call == nullptr) return false;
    if (recording_.frames[*call].line >= recording_.frames[outer.front()].line) return true;
    if (other + 1 >= pass.operations.size()) return false;
    const std::uint32_t* const next = call_in(other + 1);
    return next != nullptr && *next == *call;
  }

  const Recording& recording_;
  const Trace& trace_;
  const BlockLives& lives_;
  const ForwardPasses& forwards_;
  const AutocastGuess& guess_;
  CastTypes types_;
};

}  // namespace

CastTypes cast_types(const Recording& recording, const Trace& trace, const BlockLives& lives,
                     const ForwardPasses& forwards, const AutocastGuess& guess) {
  return CastTyping(recording, trace, lives, forwards, guess).find();
}

}  // namespace memreplay
