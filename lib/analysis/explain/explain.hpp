#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/explain/answer.hpp"
#include "analysis/explain/moment.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

struct ExplainOptions {
  std::optional<std::uint64_t> at;  ///< look at the memory right before this event
  std::optional<Bytes> total;       ///< of the device, as it reports it
  std::vector<Phase> phases;        ///< beside those that the recording annotates
  /// Of PyTorch's allocator, if it is one: how it cuts memory.
  std::optional<torch::Settings> settings;
};

/// The memory at the first OOM; where none was, at the reserved peak. O(events).
Explanation explain(const Subject& subject, const MomentSource& source,
                    const ExplainOptions& options);

}  // namespace memreplay
