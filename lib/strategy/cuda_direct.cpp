#include "strategy/cuda_direct.hpp"

#include "core/error.hpp"
#include "strategy/driver_blocks.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec&, const StrategyContext& context) {
  constexpr auto kKind = DriverAllocatorOptions::Kind::direct;
  if (!driver_has(context, kKind)) {
    throw UsageError("strategy 'cuda-direct' needs a GPU: --device cuda");
  }
  return make_driver_blocks(context.device, {.kind = kKind});
}

}  // namespace

StrategyInfo cuda_direct_strategy() {
  return {.name = "cuda-direct",
          .summary = "cudaMalloc and cudaFree, where the driver places blocks; with --device cuda.",
          .options = {},
          .make = make,
          .needs_device = "cuda"};
}

}  // namespace memreplay
