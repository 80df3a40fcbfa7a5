#include <algorithm>
#include <map>
#include <random>

#include "extensions/planner/plan/answer.hpp"
#include "extensions/planner/random_problem.hpp"
#include "metamorphic/tried.hpp"
#include "questions/fit/fit.hpp"
#include "questions/tune/answer.hpp"
#include "strategy/torch/settings.hpp"

// What a search finds is so when it is done by hand.

namespace memreplay {
namespace {

class Searches : public Rule {};
MEMREPLAY_TRY_RULES(Searches);

/// The recording's first device under one strategy.
Run by_hand(const Recording& recording, const StrategySpec& spec, const Setup& setup) {
  return replayed(inputs_of(recording), {spec}, setup).traces.front().runs.front();
}

Setup on(std::optional<Bytes> capacity) {
  Setup setup;
  setup.capacity = capacity;
  return setup;
}

TEST_P(Searches, OnTheSmallestDeviceItRunsAndOnOneGranuleLessItDoesNot) {
  const std::vector<StrategySpec> strategies = strategies_for(recording_);
  const FitAnswer fitted = answer(inputs_of(recording_), {.strategies = strategies}, {});
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    SCOPED_TRACE("-s " + strategies[i].text);
    const FittedDevice& device = fitted.devices.front();
    const FitRun& found = device.runs[i];
    if (!found.fit.smallest || found.interval) continue;  // an estimate
    const auto there = by_hand(recording_, strategies[i], on(found.fit.smallest));
    EXPECT_TRUE(there.serves()) << "on " << *found.fit.smallest;
    expect_same(there, found.there);
    if (const auto capacity = found.fit.smallest_without_retries) {
      EXPECT_EQ(by_hand(recording_, strategies[i], on(capacity)).metrics.oom_retries, 0u)
          << "on " << *capacity;
    }
    if (const auto capacity = found.fit.fails_again) {
      EXPECT_FALSE(by_hand(recording_, strategies[i], on(capacity)).serves()) << "on " << *capacity;
    }
    if (!found.fit.proven_smallest()) continue;
    const Bytes less = *found.fit.smallest - device.device.granularity;
    if (less == 0) continue;
    EXPECT_FALSE(by_hand(recording_, strategies[i], on(less)).serves()) << "on " << less;
  }
}

/// Each setting of a search by itself, on the same device.
void expect_as_listed(const Recording& recording, const std::optional<StrategySpec>& whose,
                      std::optional<Bytes> capacity) {
  const Inputs inputs = inputs_of(recording);
  const TuneAnswer tuned =
      answer(inputs, {.strategy = whose, .setup = on(capacity), .runs = 40}, {});
  auto setup = on(tuned.devices.front().capacity);
  setup.release = tuned.result.release;
  std::vector<StrategySpec> specs;
  std::vector<const Run*> listed;
  for (const TuneOutcome& outcome : tuned.result.outcomes) {
    const Run& run = outcome.runs.front();
    for (const Setting& setting : outcome.settings) {
      if (run.start_matters && !outcome.weighed) break;  // nothing is said of it
      const std::string conf = conf_of(setting, tuned.result.kept);
      specs.push_back(whose ? parse_strategy(conf.empty() ? whose->text : whose->text + ":" + conf)
                            : torch_spec_from_conf(conf));
      listed.push_back(&run);
      if (run.start_matters) break;  // what comes before differs for those that are alike
    }
  }
  const ReplayAnswer by_hand = replayed(inputs, specs, setup);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    expect_same(by_hand.traces.front().runs[i], *listed[i]);
  }
}

TEST_P(Searches, EverySettingThatWasTriedComesToWhatItIsListedUnder) {
  std::vector<std::optional<StrategySpec>> tunable = {std::nullopt};  // PyTorch's
  for (const StrategyInfo& info : strategies()) {
    if (info.settings_to_try != nullptr) tunable.emplace_back(parse_strategy(info.name));
  }
  for (const auto& whose : tunable) {
    const Bytes peak =
        by_hand(recording_, whose.value_or(parse_strategy("torch")), {}).metrics.peak_reserved;
    expect_as_listed(recording_, whose, std::nullopt);
    expect_as_listed(recording_, whose, peak * 9 / 10);
  }
}

/// As a person would check it: byte by byte no two buffers that are in use at one time.
void expect_sound(const PlanningProblem& problem, const PlannedMemory& found) {
  const std::vector<Bytes>& offsets = found.packing->offsets;
  const std::vector<BlockUse> uses = uses_of(problem);
  Bytes height = 0;
  for (std::size_t row = 0; row < problem.blocks.size(); ++row) {
    height = std::max(height, offsets[row] + problem.blocks[row].size);
    EXPECT_EQ(offsets[row] % problem.blocks[row].alignment, 0u);
    EXPECT_EQ(offsets[row], problem.place_of(row).value_or(offsets[row]));
  }
  EXPECT_EQ(found.packing->height, height);
  EXPECT_GE(height, found.lower_bound);
  for (const BlockUse& a : uses) {
    for (const BlockUse& b : uses) {
      if (a.row >= b.row || a.to <= b.from || b.to <= a.from) continue;
      const bool apart = offsets[a.row] + a.high <= offsets[b.row] + b.low ||
                         offsets[b.row] + b.high <= offsets[a.row] + a.low;
      EXPECT_TRUE(apart || a.low == a.high || b.low == b.high) << a.row << " and " << b.row;
    }
  }
}

TEST_P(Searches, EveryPlanIsSound) {
  for (std::size_t solver = 0; solver < kSolverNames.size(); ++solver) {
    SCOPED_TRACE(kSolverNames[solver]);
    const PlannerOptions options{.seconds = 0.02, .solver = static_cast<PlanSolver>(solver)};
    for (const bool odd : {false, true}) {
      const PlanningProblem problem = random_problem(
          random_, {.blocks = {.count = 30, .alignments = 3}, .gaps = odd, .places = odd});
      const PlannedMemory found = plan_memory(problem, options, {});
      ASSERT_TRUE(found.packing || found.impossible || odd);
      if (found.packing) expect_sound(problem, found);
    }
  }
}

}  // namespace
}  // namespace memreplay
