#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/edit/forward_passes.hpp"

namespace memreplay {

/// What stacks leave open of a program under autocast.
struct AutocastGuess {
  enum class Unnamed {
    promote,  ///< operations that no frame names return the widest of the operands that are known
    single,   ///< they return fp32: another operand, such as a parameter, is
    half,     ///< they return half precision where an operand is
  };
  Unnamed unnamed = Unnamed::promote;
  bool halves_mixed = false;  ///< a gradient is in half precision where some value of its size is
  bool keeps_inputs = false;  ///< what products take in fp32 lives on beside its copy
};

/// What forward passes ask for under autocast.
struct CastTypes {
  std::vector<bool> half;                             ///< by block: in half precision
  std::map<std::uint32_t, std::size_t> operation_of;  ///< by block: its place in its pass
  /// By pass and operation: what it takes, or the value before it.
  std::vector<std::vector<std::optional<std::uint32_t>>> inputs;
};

/// All outlive the call. O(operations · frames).
CastTypes cast_types(const Recording& recording, const Trace& trace, const BlockLives& lives,
                     const ForwardPasses& forwards, const AutocastGuess& guess);

}  // namespace memreplay
