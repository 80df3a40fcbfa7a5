#include "analysis/vary/restage.hpp"

#include <algorithm>
#include <cmath>

namespace memreplay {
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
    const auto now =
        sum_staging(static_cast<Bytes>(std::ceil(static_cast<double>(staged->rows) * growth)),
                    recorded[staged->result] / 4);
    if (!now) edit.dropped.push_back(static_cast<std::uint32_t>(call + 1));
    if (now && !seen_twice) sizes[staged->partial_sums] = now->partial_sums;
  }
  std::ranges::sort(edit.dropped);
  return edit;
}

}  // namespace memreplay
