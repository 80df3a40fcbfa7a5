#pragma once

#include <vector>

#include "strategy/torch/pytorch.hpp"

namespace memreplay::torch {

/// A rule of the allocator's specification, by the number that it has there, and a few calls that
/// would go otherwise if it were otherwise.
struct Rule {
  const char* section;
  const char* sentence;
  void (*scenario)();
  const char* waits_for = nullptr;  ///< not run yet, and why
};

using Rules = std::vector<Rule>;

Rules size_rules();        ///< sections 1 and 2
Rules path_rules();        ///< 3.1 to 3.7: how a request finds a block, and its end
Rules release_rules();     ///< 3.8 to 3.13: limits, and giving memory back
Rules pool_rules();        ///< 4.2 to 4.6: streams and private pools
Rules expandable_rules();  ///< 4.7
Rules statistics_rules();  ///< 5
Rules worked_rules();      ///< 11 and 13: worked cases
Rules corrected_rules();   ///< 15

/// A place as `Pytorch::alloc` gives it.
constexpr std::int64_t at(Bytes bytes) { return static_cast<std::int64_t>(bytes); }

inline SimulatedDeviceOptions first_fit() { return {.policy = AddressPolicy::first_fit}; }

}  // namespace memreplay::torch
