#pragma once

#include <span>
#include <vector>

#include "analysis/suggest/layers.hpp"
#include "metrics/edit_facts.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// What of a program lies beyond the failure with which its recording ends.
struct BeyondFailure {
  bool ends_at_oom = false;
  bool saw_backward = false;
  Bytes parameters = 0;
  Bytes gradients = 0;       ///< that were not asked for yet
  std::uint32_t states = 0;  ///< copies of the parameters that an optimizer will keep

  /// What is to be set aside for it, of the program with these edits.
  Bytes still_to_come(const std::vector<EditFacts>& edits) const;
};

/// A step that was recorded to its end stands for all steps; in a shorter one the parameters are
/// inferred from their lifetimes. O(events).
BeyondFailure beyond_failure(const Subject& subject, std::span<const LayerCode> layers,
                             std::uint32_t states);

}  // namespace memreplay
