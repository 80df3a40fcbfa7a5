#include "extensions/what_if/vary/restage.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
namespace {

constexpr Bytes kNumber = 4;         ///< bytes of one
constexpr Bytes kFewestRows = 1024;  ///< that are shared out
constexpr Bytes kColumnsOfBlock = 128;
constexpr Bytes kRowsOfBlock = 64;  ///< 4 rows of threads, 16 values each
constexpr Bytes kMostRowsOfBlock = 1024;
constexpr Bytes kBlocksOfGpu = 132 * 2048 / 128;
constexpr Bytes kFewestOutputs = 16;

Bytes divided_up(Bytes a, Bytes b) { return (a + b - 1) / b; }

/// Two blocks, the second freed before the first.
bool nested_pair(const Calls& calls, std::size_t call) {
  if (call + 3 >= calls.calls.size()) return false;
  const AlignedCall* c = &calls.calls[call];
  return !c[0].frees && !c[1].frees && c[2].frees && c[3].frees && c[2].block == c[1].block &&
         c[3].block == c[0].block && !calls.blocks[c[0].block].python;
}

/// The sizes are those of (rows x inputs), (outputs x inputs) and outputs.
bool is_linear(Bytes input, Bytes weight, Bytes bias) {
  if (bias < kFewestOutputs * kNumber || bias % kNumber != 0 || weight % bias != 0) return false;
  const Bytes inputs = weight / bias;
  return inputs > 1 && input % (kNumber * inputs) == 0;
}

}  // namespace

std::optional<SumStaging> sum_staging(Bytes rows, Bytes outputs) {
  if (rows < kFewestRows) return std::nullopt;
  const Bytes groups = divided_up(outputs, kColumnsOfBlock);
  const Bytes blocks =
      std::max(std::min(divided_up(kBlocksOfGpu, groups), divided_up(rows, kRowsOfBlock)),
               divided_up(rows, kMostRowsOfBlock));
  return SumStaging{kNumber * kColumnsOfBlock * outputs * blocks, kNumber * groups};
}

std::vector<BiasGradient> bias_gradients(const Calls& calls, const std::vector<bool>& varies,
                                         const std::vector<bool>& constant) {
  std::vector<BiasGradient> found;
  std::vector<std::uint32_t> asked;  ///< in this stretch of the backward pass, without workspaces
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const AlignedCall& call = calls.calls[i];
    if (call.frees) continue;
    if (calls.blocks[call.block].python) {
      asked.clear();
      continue;
    }
    if (freed_at_once(calls, i)) continue;
    const bool staged = nested_pair(calls, i + 1);
    const std::size_t n = asked.size();
    if (n >= 2 && constant[call.block] && constant[asked[n - 1]] && varies[asked[n - 2]] &&
        is_linear(calls.blocks[asked[n - 2]].size, calls.blocks[asked[n - 1]].size,
                  calls.blocks[call.block].size)) {
      found.push_back(
          {static_cast<std::uint32_t>(i), asked[n - 2], asked[n - 1], call.block, staged});
    }
    asked.push_back(call.block);
    if (staged) i += 4;
  }
  return found;
}

std::optional<StagedSum> staged_sum(const Calls& calls, std::size_t call) {
  if (calls.calls[call].frees || !nested_pair(calls, call + 1)) return std::nullopt;
  StagedSum sum{static_cast<std::uint32_t>(call), calls.calls[call].block,
                calls.calls[call + 1].block, calls.calls[call + 2].block};
  const Bytes outputs = calls.blocks[sum.result].size / kNumber;
  const Bytes partial = calls.blocks[sum.partial_sums].size;
  if (outputs == 0 || partial % (kNumber * kColumnsOfBlock * outputs) != 0) return std::nullopt;
  sum.rows = partial / (kNumber * kColumnsOfBlock * outputs) * kRowsOfBlock;
  const auto expected = sum_staging(sum.rows, outputs);
  if (!expected || expected->semaphores != calls.blocks[sum.semaphores].size) return std::nullopt;
  return sum;
}

Bytes rows_of(const BiasGradient& gradient, std::span<const Bytes> sizes) {
  return sizes[gradient.input] / (kNumber * (sizes[gradient.weight] / sizes[gradient.bias]));
}

namespace {

std::vector<Bytes> recorded_sizes(const Calls& calls) {
  std::vector<Bytes> sizes;
  for (const CallBlock& block : calls.blocks) sizes.push_back(block.size);
  return sizes;
}

/// What the blocks of one recording do in the others.
class Behaviour {
 public:
  Behaviour(const Calls& calls, std::span<const PairedCalls> others)
      : varies(calls.blocks.size()), constant(calls.blocks.size()) {
    for (std::size_t block = 0; block < calls.blocks.size(); ++block) {
      bool paired = false;
      for (const PairedCalls& other : others) {
        const std::uint32_t same = other.block_of[block];
        if (same == Calls::kNoBlock) continue;
        paired = true;
        if (other.calls->blocks[same].size != calls.blocks[block].size) varies[block] = true;
      }
      constant[block] = paired && !varies[block];
    }
  }

  std::vector<bool> varies;
  std::vector<bool> constant;  ///< paired, and not that
};

/// It sums as many rows in every recording that has it: the parameter decides over its outputs.
bool rows_stay(const StagedSum& sum, std::span<const PairedCalls> others) {
  bool paired = false;
  for (const PairedCalls& other : others) {
    const std::uint32_t partial = other.block_of[sum.partial_sums];
    const std::uint32_t result = other.block_of[sum.result];
    if (partial == Calls::kNoBlock || result == Calls::kNoBlock) continue;
    const std::vector<CallBlock>& blocks = other.calls->blocks;
    const Bytes there =
        blocks[partial].size / (kColumnsOfBlock * blocks[result].size) * kRowsOfBlock;
    if (there != sum.rows) return false;
    paired = true;
  }
  return paired;
}

/// In some recording the sum has rows enough and is not staged.
bool unstaged_elsewhere(const BiasGradient& gradient, std::span<const PairedCalls> others) {
  return std::ranges::any_of(others, [&](const PairedCalls& other) {
    const std::uint32_t input = other.block_of[gradient.input];
    const std::uint32_t weight = other.block_of[gradient.weight];
    const std::uint32_t bias = other.block_of[gradient.bias];
    if (input == Calls::kNoBlock || weight == Calls::kNoBlock || bias == Calls::kNoBlock) {
      return false;
    }
    const std::vector<CallBlock>& blocks = other.calls->blocks;
    const BiasGradient there{0, 0, 1, 2};
    const Bytes sizes[] = {blocks[input].size, blocks[weight].size, blocks[bias].size};
    const Bytes outputs = blocks[bias].size / 4;
    return sum_staging(rows_of(there, sizes), outputs) &&
           !staged_sum(*other.calls, blocks[bias].call);
  });
}

}  // namespace

Restaging restage(const Calls& calls, std::span<const PairedCalls> others, double growth,
                  std::vector<Bytes>& sizes) {
  const Behaviour behaviour(calls, others);
  const std::vector<Bytes> recorded = recorded_sizes(calls);
  Restaging edit;
  std::vector<bool> told(calls.calls.size());  ///< its rows are known from the sizes beside it
  for (const BiasGradient& gradient : bias_gradients(calls, behaviour.varies, behaviour.constant)) {
    const Bytes outputs = recorded[gradient.bias] / 4;
    const auto before = sum_staging(rows_of(gradient, recorded), outputs);
    const auto now = sum_staging(rows_of(gradient, sizes), outputs);
    const auto staged = gradient.staged ? staged_sum(calls, gradient.call) : std::nullopt;
    if (staged) {
      const SumStaging there{recorded[staged->partial_sums], recorded[staged->semaphores]};
      if (before != there) continue;
      told[gradient.call] = true;
      if (now) sizes[staged->partial_sums] = now->partial_sums;
      if (!now) edit.dropped.push_back(gradient.call + 1);
    } else if (now && !before && !gradient.staged && !unstaged_elsewhere(gradient, others)) {
      edit.added.emplace_back(gradient.call, *now);
    }
  }
  for (std::size_t call = 0; call < calls.calls.size(); ++call) {
    if (told[call] || calls.calls[call].frees) continue;
    if (calls.blocks[calls.calls[call].block].python) continue;
    const auto staged = staged_sum(calls, call);
    if (!staged) continue;
    const bool seen_twice =
        behaviour.varies[staged->partial_sums] || behaviour.constant[staged->partial_sums];
    const double grown =
        static_cast<double>(staged->rows) * (rows_stay(*staged, others) ? 1 : growth);
    const auto now =
        sum_staging(static_cast<Bytes>(std::ceil(grown)), sizes[staged->result] / kNumber);
    if (!now) edit.dropped.push_back(static_cast<std::uint32_t>(call + 1));
    if (now && !seen_twice) sizes[staged->partial_sums] = now->partial_sums;
  }
  std::ranges::sort(edit.dropped);
  return edit;
}

}  // namespace memreplay
