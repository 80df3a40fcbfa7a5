#include "run/late_start/stage.hpp"

#include <gtest/gtest.h>

#include "run/late_start/late_recording.hpp"
#include "run/late_start/late_trace.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

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
                         &target_of_other("free-list")};
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

using Start = Preparation::Start;

const SimulatedDeviceOptions kEndless{};
const ReplayOptions kPlain{};

TEST(Stage, AnOutcomeIsTheSameWhateverWasAskedBefore) {
  const Recording recording =
      begun_late(read_recording(MEMREPLAY_TRACES "/torch/layers_5.pickle"), 300);
  const Subject subject(recording, recording.traces.at(0));
  const WarmParts parts = warm_parts(subject.trace(), {});
  const Program program = program_of(subject);
  const WarmScript script{program, program, parts};
  const StrategySpec spec = parse_strategy("torch:max_split_size_mb=20");
  Stage asked(Contender(subject, spec), script, kEndless, kPlain);
  ASSERT_TRUE(asked.reserved_after({Start::founders_first, {1.2}}));
  ASSERT_TRUE(asked.outcome({Start::founders_first, {1.2}}));
  ASSERT_TRUE(asked.outcome({Start::idle_first, {}}));
  for (const Preparation& preparation :
       {Preparation{Start::founders_first, {1.2, .9, .7}},
        Preparation{Start::founders_first, {1.2}}, Preparation{Start::founders_first, {}}}) {
    Stage fresh(Contender(subject, spec), script, kEndless, kPlain);
    const StageOutcome expected = fresh.outcome(preparation).value();
    const StageOutcome found = asked.outcome(preparation).value();
    EXPECT_EQ(found.peak_reserved, expected.peak_reserved);
    EXPECT_EQ(found.end_reserved, expected.end_reserved);
    EXPECT_EQ(found.oom_retries, expected.oom_retries);
    EXPECT_EQ(asked.reserved_after(preparation), fresh.reserved_after(preparation));
  }
}

TEST(Stage, WhatIsMeasuredCallsEmptyCacheWhereTheProgramDid) {
  Recording recording;
  LateTrace writer;
  writer.segment(30 * kMiB).live(30 * kMiB);
  writer.alloc(1, 40 * kMiB).free(1).alloc(2, 60 * kMiB);
  recording.traces.push_back(writer.finish());
  const Trace& trace = recording.traces[0];
  const Subject subject(recording, trace);
  const WarmParts parts = warm_parts(trace, {});
  Reading reading;
  reading.calls = {{.event = 2, .kind = ProgramCall::Kind::empty_cache}};
  const StrategySpec spec = parse_strategy("torch");
  const Preparation start{Start::founders_first, {}};
  const Program calls = program_of(trace, &reading);
  const WarmScript called{calls, calls, parts};
  EXPECT_EQ(Stage(Contender(subject, spec), called, kEndless, kPlain).outcome(start)->peak_reserved,
            90 * kMiB);
  const Program plain = program_of(trace, nullptr);
  const WarmScript without{plain, plain, parts};
  EXPECT_EQ(
      Stage(Contender(subject, spec), without, kEndless, kPlain).outcome(start)->peak_reserved,
      130 * kMiB);
}

}  // namespace

}  // namespace memreplay
