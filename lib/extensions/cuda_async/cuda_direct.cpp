#include "core/error.hpp"
#include "strategy/parts/driver_blocks.hpp"
#include "strategy/registry.hpp"

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

/// cudaMalloc and cudaFree on a GPU: what a program without an allocator of its own gets.
StrategyInfo cuda_direct_strategy() {
  return {.name = "cuda-direct",
          .summary = "cudaMalloc and cudaFree, where the driver places blocks; with --device cuda.",
          .options = {},
          .make = make,
          .needs_device = "cuda",
          .known_as = {{"cudamalloc"}}};
}

}  // namespace memreplay
