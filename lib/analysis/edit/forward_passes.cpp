#include "analysis/edit/forward_passes.hpp"

#include <algorithm>

#include "analysis/edit/weight_uses.hpp"

namespace memreplay {
namespace {

constexpr Bytes kLeastResult = 64;
constexpr std::size_t kRecent = 12;
constexpr Bytes kLeastTensor = 1024;  ///< smaller ones are statistics and counters
constexpr Bytes kSeed = 16;           ///< random numbers of attention, at most
constexpr Bytes kHeadSize = 200;      ///< elements for which attention saves one sum, at most

/// The largest block that outlives the operation, the latest of equals; the first where none does.
/// Indices of 8 bytes, as pooling has, are twice as large as their values.
std::uint32_t result_of(const ForwardOperation& operation, const BlockLives& lives) {
  std::uint32_t result = BlockLives::kNone;
  for (const std::uint32_t block : operation.blocks) {
    if (!lives.blocks[block].alive_at(operation.end)) continue;
    const Bytes size = lives.blocks[block].size;
    const Bytes least = result == BlockLives::kNone ? 0 : lives.blocks[result].size;
    const bool indices = operation.rule == CastRule::follows && least > 0 && size == 2 * least;
    if (size >= least && !indices) result = block;
  }
  return result == BlockLives::kNone ? operation.blocks.front() : result;
}

}  // namespace

ForwardPasses::ForwardPasses(const Trace& trace, const BlockLives& lives, const Passes& passes,
                             const std::vector<NamedOperation>& names)
    : trace_(trace), lives_(lives), names_(names), by_call_(lives) {
  for (BlockLife& life : by_call_.blocks) life.stack = names[life.stack].call;
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) allocations_.push_back(event);
  }
  split(passes);
  std::ranges::sort(parameters_);
  parameters_.erase(std::unique(parameters_.begin(), parameters_.end()), parameters_.end());
  for (ForwardPass& pass : passes_) find_weights(pass, trace_, lives_, names_, parameters_);
}

// Parameters were there before the recording, or are asked for before the first operation that
// would be one in half precision.
void ForwardPasses::split(const Passes& passes) {
  std::vector<std::uint32_t> forward;
  std::vector<std::uint32_t> backward;
  bool begun = false;
  for (std::uint32_t block = 0; block < lives_.blocks.size(); ++block) {
    const BlockLife& life = lives_.blocks[block];
    const NamedOperation& named = names_[life.stack];
    const bool stays = life.freed == BlockLife::kNever;
    if (!life.existed_before() && named.optimizes) continue;
    begun |= !life.existed_before() && named.rule == CastRule::half;
    if (life.existed_before() || (stays && !begun)) {
      parameters_.push_back(life.size);
    } else if (passes.is_backward(life.stack)) {
      backward.push_back(block);
    } else {
      if (!backward.empty()) end_pass(forward, backward);
      forward.push_back(block);
    }
  }
  end_pass(forward, backward);
}

void ForwardPasses::end_pass(std::vector<std::uint32_t>& forward,
                             std::vector<std::uint32_t>& backward) {
  std::vector<std::uint64_t> events;
  for (const std::uint32_t block : forward) events.push_back(lives_.blocks[block].born);
  const std::vector<std::uint32_t> numbers = operations_of(trace_, by_call_, events);
  ForwardPass pass;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      pass.operations.push_back(
          {.stack = lives_.blocks[forward[i]].stack, .begin = lives_.blocks[forward[i]].born});
    }
    pass.operations.back().blocks.push_back(forward[i]);
  }
  pass.backward = std::move(backward);
  for (std::size_t i = 0; i < pass.operations.size(); ++i) {
    ForwardOperation& operation = pass.operations[i];
    operation.end = i + 1 < pass.operations.size() ? pass.operations[i + 1].begin
                                                   : pass.end(lives_, trace_.size());
    operation.rule = named(operation).rule;
    operation.result = result_of(operation, lives_);
    const NamedOperation& name = named(operation);
    operation.weighs = name.is_softmax ||
                       (name.rule == CastRule::follows && i > 0 && pass.operations[i - 1].weighs);
    if (i > 0) look_at(pass, i);
  }
  if (!pass.operations.empty()) passes_.push_back(std::move(pass));
  forward.clear();
  backward.clear();
}

// What no frame names, its blocks may tell.
void ForwardPasses::look_at(ForwardPass& pass, std::size_t index) const {
  ForwardOperation& operation = pass.operations[index];
  const ForwardOperation& before = pass.operations[index - 1];
  const NamedOperation& name = named(operation);
  const auto size = [&](std::uint32_t block) { return lives_.blocks[block].size; };
  const Bytes result = size(operation.result);
  if (name.by_operator || result < kLeastTensor) return;
  if (name.rule == CastRule::promotes) {
    const auto seeds = std::ranges::count_if(operation.blocks, [&](std::uint32_t block) {
      return size(block) <= kSeed && lives_.blocks[block].alive_at(operation.end);
    });
    const std::vector<std::uint32_t> recent = recent_results(pass, index, lives_);
    // Attention that is written out multiplies the result of a softmax with something smaller.
    const bool weighs =
        before.weighs && operation.blocks.size() == 1 && !recent.empty() &&
        size(recent.front()) > result &&
        std::ranges::any_of(recent, [&](std::uint32_t block) { return size(block) == result; });
    if (seeds == 2 || weighs) operation.rule = CastRule::half;
    operation.attends = seeds == 2;
  } else if (name.rule == CastRule::half && name.by_function) {
    operation.attends = std::ranges::any_of(operation.blocks, [&](std::uint32_t block) {
      return block > operation.result && size(block) * kHeadSize >= result &&
             lives_.blocks[block].alive_at(operation.end);
    });
    // Functions around attention copy what they have, in one request.
    const bool copies = operation.blocks.size() == 1 && size(before.result) == result;
    if (copies) operation.rule = CastRule::follows;
    operation.copies_attention = copies && before.attends;
  }
}

bool ForwardPasses::is_workspace(std::uint32_t block) const {
  const BlockLife& life = lives_.blocks[block];
  const auto next = std::ranges::upper_bound(allocations_, life.born);
  return life.freed < (next == allocations_.end() ? trace_.size() : *next);
}

std::vector<std::uint32_t> recent_results(const ForwardPass& pass, std::size_t index,
                                          const BlockLives& lives) {
  std::vector<std::uint32_t> results;
  const std::uint64_t begin = pass.operations[index].begin;
  for (std::size_t i = index; i-- > 0 && results.size() < kRecent;) {
    const BlockLife& result = lives.blocks[pass.operations[i].result];
    if (result.alive_at(begin) && result.size >= kLeastResult)
      results.push_back(pass.operations[i].result);
  }
  return results;
}

}  // namespace memreplay
