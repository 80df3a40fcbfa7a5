#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "strategy/endless_play.hpp"
#include "strategy/registered.hpp"

// Every strategy under the ledger for as long as the environment asks: MEMREPLAY_RANDOM_OPERATIONS
// for each, from MEMREPLAY_RANDOM_SEED on.

namespace memreplay {
namespace {

/// The loads that the original BFC was measured with, on devices without end and on ones that fill
/// up.
constexpr Load kLoads[] = {{2'000, 6, 20},
                           {50'000, 6, 17},
                           {200, 10, 24},
                           {2'000, 6, 20, 160 * kMiB},
                           {50'000, 6, 17, 500 * kMiB},
                           {200, 10, 24, 250 * kMiB}};

std::uint64_t asked(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Every strategy that a simulated device can have, and what of it works in another way.
std::vector<std::string> specs() {
  std::vector<std::string> specs;
  for (const StrategyInfo& info : strategies()) {
    if (info.needs_device.empty()) specs.push_back(example_of(info));
  }
  for (const char* other :
       {"torch:expandable_segments=True",
        "torch:max_split_size_mb=64,garbage_collection_threshold=0.6",
        "hybrid(bfc,torch):static=100MiB", "offload(bfc)", "rmm-binning(rmm-arena)"}) {
    specs.emplace_back(other);
  }
  return specs;
}

class EveryStrategyAtLength : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategyAtLength, KeepsTheLedgerSilent) {
  const std::uint64_t operations = asked("MEMREPLAY_RANDOM_OPERATIONS", 60'000);
  const std::uint64_t seed = asked("MEMREPLAY_RANDOM_SEED", 1);
  const std::clock_t begun = std::clock();
  for (const Load& load : kLoads) {
    SCOPED_TRACE(fmt::format("seed {}, load {}", seed, &load - kLoads));
    EndlessPlay play(GetParam(), load, seed);
    ASSERT_NO_THROW(play.play(operations / std::size(kLoads)));
    ASSERT_NO_THROW(play.end());
  }
  if (operations < 1'000'000) return;
  const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  fmt::print("{}: {} operations from seed {}, {:.0f} a second of processor time\n", GetParam(),
             operations, seed, static_cast<double>(operations) / seconds);
  std::fflush(stdout);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryStrategyAtLength, testing::ValuesIn(specs()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace memreplay
