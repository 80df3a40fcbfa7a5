#include "extensions/minimise/minimise.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <vector>

#include "support/recordings.hpp"
#include "trace/csv/csv.hpp"

namespace memreplay {
namespace {

/// A program that holds more and more of many sizes: after a while it is out of memory.
Recording growing_program(std::size_t events, bool large_requests) {
  std::mt19937 random(11);
  RecordingWriter writer;
  std::vector<Slot> live;
  std::vector<Slot> unused;
  Slot next = 0;
  for (std::size_t i = 0; i < events; ++i) {
    if (!live.empty() && random() % 100 < 46) {
      const std::size_t at = random() % live.size();
      writer.free(live[at]);
      unused.push_back(live[at]);
      live[at] = live.back();
      live.pop_back();
      continue;
    }
    const Slot slot = unused.empty() ? next++ : unused.back();
    if (!unused.empty()) unused.pop_back();
    const bool large = large_requests && random() % 4 == 0;
    writer.alloc(slot, large ? (2 + random() % 40) * kMiB : 512 + random() % kMiB);
    live.push_back(slot);
  }
  return writer.recording();
}

Minimised small_of(const Recording& recording, const std::string& strategy,
                   std::optional<Bytes> capacity, MinimiseOptions options = {}) {
  options.replaying.device.capacity = capacity;
  const Subject subject(recording, recording.traces[0]);
  const StrategySpec spec = parse_strategy(strategy);
  return minimise(subject, spec, spec, options);
}

RunMetrics replayed(const Trace& trace, const std::string& strategy,
                    std::optional<Bytes> capacity) {
  Recording recording = RecordingWriter().recording();
  recording.traces = {trace};
  const Subject subject(recording, recording.traces[0]);
  Trial trial(Contender(subject, parse_strategy(strategy)),
              {.device = SimulatedDeviceOptions{.capacity = capacity}});
  return trial.run().metrics;
}

class MinimiseUnder : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, MinimiseUnder, testing::Values("torch", "bfc", "buddy"),
                         [](const auto& strategy) { return std::string(strategy.param); });

TEST_P(MinimiseUnder, ThousandsOfEventsThatRunOutOfMemoryBecomeAFewDozen) {
  const Recording recording = growing_program(12'000, true);
  constexpr Bytes kCapacity = 2 * kGiB;
  const Minimised small = small_of(recording, GetParam(), kCapacity);
  const RunMetrics whole = replayed(recording.traces[0], GetParam(), kCapacity);
  const RunMetrics part = replayed(small.trace, GetParam(), kCapacity);
  ASSERT_TRUE(whole.first_oom && part.first_oom);
  EXPECT_EQ(part.first_oom->requested, whole.first_oom->requested);
  EXPECT_EQ(part.first_oom->event + 1, small.trace.size());
  EXPECT_EQ(part.first_oom->free >= part.first_oom->requested,
            whole.first_oom->free >= whole.first_oom->requested);
  EXPECT_EQ(part.first_oom->largest_free >= part.first_oom->requested,
            whole.first_oom->largest_free >= whole.first_oom->requested);
  EXPECT_LE(small.trace.size(), 36u);
  EXPECT_TRUE(small.summary.finished);
}

TEST_P(MinimiseUnder, TheGapStaysAtNineteenTwentieths) {
  const Recording recording = growing_program(3'000, true);
  const Minimised small = small_of(recording, GetParam(), {}, {.keep = Keep::gap});
  const RunMetrics whole = replayed(recording.traces[0], GetParam(), {});
  const RunMetrics part = replayed(small.trace, GetParam(), {});
  EXPECT_EQ(small.summary.kept, Kept::gap);
  EXPECT_GE(static_cast<double>(part.gap()), 0.95 * static_cast<double>(whole.gap()));
  EXPECT_LE(small.trace.size(), 100u);
}

TEST(Minimise, AShortageOfManySmallBlocksIsShownByTwo) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 500; ++slot) writer.alloc(slot, 2 * kMiB);
  const Minimised small = small_of(writer.recording(), "direct", 100 * kMiB);
  EXPECT_EQ(small.summary.kept, Kept::shortage);
  EXPECT_EQ(small.trace.ops, (std::vector<Op>{Op::allocate, Op::allocate}));
  EXPECT_EQ(small.trace.sizes.back(), 2 * kMiB);
}

TEST(Minimise, TheResultIsTheSameEveryTime) {
  const Recording recording = growing_program(4'000, true);
  EXPECT_EQ(small_of(recording, "torch", kGiB).trace, small_of(recording, "torch", kGiB).trace);
}

TEST(Minimise, WrittenAsCsvAndReadAgainItShowsTheSame) {
  const Recording recording = growing_program(4'000, true);
  const Minimised small = small_of(recording, "torch", kGiB);
  const std::string path = testing::TempDir() + "minimised.csv";
  std::ofstream(path) << write_csv(recording, small.trace);
  const Recording again = read_recording(path);
  const RunMetrics m = replayed(again.traces[0], "torch", kGiB);
  ASSERT_TRUE(m.first_oom);
  EXPECT_EQ(m.first_oom->event, small.summary.after.first_oom->event);
  EXPECT_EQ(m.first_oom->free, small.summary.after.first_oom->free);
  EXPECT_EQ(m.first_oom->largest_free, small.summary.after.first_oom->largest_free);
}

TEST(Minimise, MarkersThatShowNothingAreLeftOut) {
  const Recording recording = RecordingWriter()
                                  .add(Op::marker, kNoSlot, 0)
                                  .alloc(0, 6 * kMiB)
                                  .add(Op::empty_cache, kNoSlot, 0)
                                  .alloc(1, 8 * kMiB)
                                  .recording();
  const Minimised small = small_of(recording, "direct", 10 * kMiB);
  EXPECT_EQ(small.trace.ops, (std::vector<Op>{Op::allocate, Op::allocate}));
  EXPECT_EQ(small.summary.events_before, 4u);
}

TEST(Minimise, WithTheBudgetSpentTheAnswerIsWhatThereIsByThen) {
  const Recording recording = growing_program(4'000, true);
  const Minimised small = small_of(recording, "torch", kGiB, {.budget = 20'000});
  EXPECT_FALSE(small.summary.finished);
  EXPECT_TRUE(replayed(small.trace, "torch", kGiB).first_oom);
  EXPECT_LT(small.trace.size(), recording.traces[0].size());
}

TEST(Minimise, WhereNothingFailsAndNothingIsLostThereIsNothingToMinimise) {
  const Recording recording = RecordingWriter().alloc(0, 4 * kMiB).recording();
  EXPECT_THROW(small_of(recording, "direct", {}), NothingToMinimise);
  EXPECT_THROW(small_of(recording, "torch", {}, {.keep = Keep::oom}), NothingToMinimise);
}

}  // namespace
}  // namespace memreplay
