#include "strategy/torch/recorded.hpp"

#include "strategy/torch/allocator.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  const auto model = torch_model(spec, context.recorded, context.torch_version);
  return torch::make_allocator(model->settings, model->release, context);
}

}  // namespace

StrategyInfo recorded_strategy() {
  return {
      .name = "recorded",
      .summary = "PyTorch's allocator with the settings stored in the recording",
      .options = {{"version", "X.Y.Z", "as recorded, else newest", "the release whose rules hold"}},
      .make = make,
  };
}

}  // namespace memreplay
