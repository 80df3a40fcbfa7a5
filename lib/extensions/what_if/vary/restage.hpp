#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "extensions/what_if/vary/calls.hpp"

namespace memreplay {

/// What PyTorch's reduction kernel (ATen/native/cuda/Reduce.cuh) sets aside to sum many rows of
/// 32-bit numbers into `outputs` columns, as the gradient of a bias is made: it lets several thread
/// blocks share a column from 1024 rows on.
struct SumStaging {
  Bytes partial_sums = 0;
  Bytes semaphores = 0;

  friend bool operator==(const SumStaging&, const SumStaging&) = default;
};

/// Unset where no staging is needed. For a GPU of 132 multiprocessors of 2048 threads.
std::optional<SumStaging> sum_staging(Bytes rows, Bytes outputs);

/// The gradient of a bias in the backward of a linear layer, told by its shape: gradients of the
/// layer's input (rows x inputs), of its weight (outputs x inputs) and of its bias (outputs) are
/// asked for one after another.
struct BiasGradient {
  std::uint32_t call = 0;                         ///< that asks for the gradient of the bias
  std::uint32_t input = 0, weight = 0, bias = 0;  ///< blocks
  /// The four calls after it ask for staging and free it.
  bool staged = false;
};

/// `varies` and `constant` are what blocks do from recording to recording, by block. O(calls).
std::vector<BiasGradient> bias_gradients(const Calls& calls, const std::vector<bool>& varies,
                                         const std::vector<bool>& constant);

/// A group of calls as above after any block that may be the result of such a sum.
struct StagedSum {
  std::uint32_t call = 0;    ///< that asks for the result
  std::uint32_t result = 0;  ///< blocks
  std::uint32_t partial_sums = 0;
  std::uint32_t semaphores = 0;
  Bytes rows = 0;  ///< at most 63 fewer
};

/// Unset where the calls after `call` are no such group.
std::optional<StagedSum> staged_sum(const Calls& calls, std::size_t call);

/// Rows of the sum where blocks have these sizes.
Bytes rows_of(const BiasGradient& gradient, std::span<const Bytes> sizes);

/// One recording beside the one whose calls are edited.
struct PairedCalls {
  const Calls* calls = nullptr;
  std::span<const std::uint32_t> block_of;  ///< by block of the first; Calls::kNoBlock: none
};

/// What becomes of the staging of sums.
struct Restaging {
  std::vector<std::uint32_t> dropped;  ///< the first of four calls each, ascending
  std::vector<std::pair<std::uint32_t, SumStaging>> added;  ///< after these calls, ascending
};

/// Staging of sums follows from their rows, not from that of recordings. `sizes` are those
/// predicted, by block, and get those of staging that stays. `growth` is the factor by which a
/// number of rows grows that is known from its staging alone. Where a recording sums enough rows
/// without staging, what looks like the gradient of a bias is none. O(calls x recordings).
Restaging restage(const Calls& calls, std::span<const PairedCalls> others, double growth,
                  std::vector<Bytes>& sizes);

}  // namespace memreplay
