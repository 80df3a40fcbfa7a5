#include <gtest/gtest.h>

#include "analysis/late_start/stage.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

using Way = Guess::Way;

const Target& target(const std::string& recorded, const std::string& replayed,
                     std::optional<Bytes> room = std::nullopt) {
  const auto model = [](const std::string& conf) {
    return *torch_model(torch_spec_from_conf(conf), nullptr);
  };
  return target_of(model(recorded), model(replayed), room, 1000);
}

TEST(Targets, WhatDiffersDecidesHowToGuess) {
  const std::string expandable = "expandable_segments:True";
  const Target* all[] = {&target("", expandable),
                         &target(expandable, ""),
                         &target(expandable, expandable, 500),
                         &target(expandable, expandable + ",max_split_size_mb:64"),
                         &target("", "max_split_size_mb:64"),
                         &target("", "roundup_power2_divisions:4"),
                         &target("", "large_segment_size_mb:64"),
                         &target("", "", 500),
                         &target("", ""),
                         &target_of_other("bfc"),
                         &target_of_other("rmm-pool")};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << i << ' ' << j;
  }
}

TEST(Targets, WhatWeighsMoreComesFirst) {
  EXPECT_EQ(&target("", "max_split_size_mb:64,roundup_power2_divisions:4"),
            &target("", "max_split_size_mb:64"));
  EXPECT_EQ(&target("max_split_size_mb:64", ""), &target("", "max_split_size_mb:64"));
  EXPECT_EQ(&target("", "expandable_segments:True", 500), &target("", "expandable_segments:True"));
}

TEST(Targets, CollectionMattersOnlyUnderALimit) {
  const std::string collects = "garbage_collection_threshold:0.6";
  EXPECT_EQ(&target("", collects), &target("", ""));
  EXPECT_EQ(&target("", collects, 2000), &target("", "", 2000));
  const std::string limited = collects + ",per_process_memory_fraction:0.5";
  EXPECT_NE(&target("", limited, 2000), &target("", "", 2000));
}

// A guess is worth what its way and its correction say.
double estimate(const Target& target, double idle, double largest, double largest_by_ratio) {
  return target.estimate([=](Guess guess) {
    if (guess.way == Way::idle) return idle;
    return guess.correction == Guess::Correction::ratio ? largest_by_ratio : largest;
  });
}

TEST(Targets, ToExpandableTheLesserGuessHoldsUnlessStepsExplainLittle) {
  const Target& to = target("", "expandable_segments:True");
  EXPECT_EQ(estimate(to, 900, 800, 1000), 800);
  EXPECT_EQ(estimate(to, 700, 800, 1000), 700);
  EXPECT_EQ(estimate(to, 900, 500, 1000), 900);
}

TEST(Targets, StepsFadeFromTheLargest) {
  const EarlierSteps steps{WarmKind::larger, 2};
  EXPECT_EQ(preparation_of(Way::largest_step, steps).rehearsals, (std::vector<double>{2}));
  EXPECT_EQ(preparation_of(Way::fading_steps, steps).rehearsals,
            (std::vector<double>{2, 1.6, 1.2}));
  EXPECT_EQ(preparation_of(Way::one_step, steps).rehearsals, (std::vector<double>{1}));
  EXPECT_TRUE(preparation_of(Way::fading_steps, {}).rehearsals.empty());
}

}  // namespace
}  // namespace memreplay
