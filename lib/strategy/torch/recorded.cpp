#include "strategy/torch/recorded.hpp"

#include "core/error.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  if (context.recorded == nullptr) {
    throw UsageError(
        "'recorded' needs a recording that carries PyTorch's settings; name a strategy with -s");
  }
  const std::string_view version = find_option(spec, "version").value_or(context.torch_version);
  const torch::Release release = torch::parse_release(version);
  return torch::make_allocator(torch::settings_of(*context.recorded, release), release, context);
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
