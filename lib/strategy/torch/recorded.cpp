#include "strategy/registry.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {
/// The PyTorch allocator with the settings that the recording carries.
StrategyInfo recorded_strategy() {
  return {
      .name = "recorded",
      .summary = "PyTorch's allocator with the settings stored in the recording",
      .options = {{"version", "X.Y.Z", "as recorded, else newest", "the release whose rules hold"}},
      .make = make_torch,
      .at = "version",
  };
}

}  // namespace memreplay
