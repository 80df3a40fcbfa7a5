#include "extensions/umpire/umpire_pool.hpp"

namespace memreplay {
namespace {

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  return std::make_unique<UmpirePool>(umpire_options(spec, UmpireKind::dynamic_pool_list),
                                      context.device);
}

}  // namespace

/// Umpire's DynamicPoolList.
StrategyInfo umpire_dynamic_pool_list_strategy() {
  return {.name = "umpire-dynamic-pool-list",
          .summary =
              "Umpire's DynamicPoolList: best fit, the lowest of equal blocks; joins free blocks.",
          .options = umpire_option_infos(),
          .make = make,
          .example = "umpire-dynamic-pool-list:first=1MiB",
          .known_as = {{"dynamicpoollist"}}};
}

}  // namespace memreplay
