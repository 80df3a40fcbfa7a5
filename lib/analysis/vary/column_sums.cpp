#include "analysis/vary/column_sums.hpp"

#include <algorithm>

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

bool freed_at_once(const Calls& calls, std::size_t call) {
  return call + 1 < calls.calls.size() && !calls.calls[call].frees && calls.calls[call + 1].frees &&
         calls.calls[call + 1].block == calls.calls[call].block;
}

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

}  // namespace memreplay
