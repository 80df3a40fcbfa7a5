#include "extensions/umpire/umpire_pool.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  return std::make_unique<UmpirePool>(umpire_options(spec, UmpireKind::quick_pool), context.device);
}

}  // namespace

/// Umpire's QuickPool.
StrategyInfo umpire_quick_pool_strategy() {
  return {.name = "umpire-quick-pool",
          .summary = "Umpire's QuickPool: best fit, the oldest of equal blocks; joins free blocks.",
          .options = umpire_option_infos(),
          .make = make,
          .example = "umpire-quick-pool:first=1MiB",
          .known_as = {{"umpire"}, {"quickpool"}}};
}

}  // namespace memreplay
