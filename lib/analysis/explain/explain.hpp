#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/explain/answer.hpp"
#include "analysis/explain/moment.hpp"
#include "analysis/explain/question.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

struct ExplainOptions {
  At at;                        ///< the moment to look at
  std::optional<Bytes> total;   ///< of the device, as it reports it
  std::vector<Phase> phases;    ///< beside those that the recording annotates
  PlaceBy by = PlaceBy::place;  ///< what counts as a place
  bool tree = false;            ///< who called the places
  bool stacks = false;          ///< memory by whole stacks
  bool by_phase = false;        ///< the phases with who holds most; steps where there are none
  /// For which expandable segments reserve addresses; nothing: at least what was reserved or free.
  std::optional<Bytes> reserved_for;
  std::optional<Bytes> address_space;  ///< nothing: that of a process
  bool unknown_size = false;  ///< of the device: why a recorded refusal came is not known either
  /// Of PyTorch's allocator, if it is one: how it cuts memory.
  std::optional<torch::Settings> settings;
};

/// The memory at the moment that is asked for, and why a request failed there. Throws UsageError
/// where there is no such moment. O(events).
Explanation explain(const Subject& subject, const MomentSource& source,
                    const ExplainOptions& options);

}  // namespace memreplay
