#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "questions/settings/search.hpp"
#include "questions/tune/answer.hpp"
#include "run/inputs.hpp"

namespace memreplay {
namespace {

Inputs doubling() {
  return Inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/ort-arena-doubles.csv"}});
}

/// 262 weights of 64 MiB, a little above 16 GiB.
Inputs small_weights() {
  const std::string path = testing::TempDir() + "small_weights.csv";
  std::ofstream file(path);
  file << "op,id,size\n";
  for (int i = 0; i < 262; ++i) file << "a," << i << "," << 64 * kMiB << "\n";
  file.close();
  return Inputs({.paths = {path}});
}

TuneAnswer tuned(const Inputs& inputs, const std::string& strategy) {
  return answer(inputs, {.strategy = parse_strategy(strategy), .threads = 1}, {});
}

std::string best_of(const TuneAnswer& tuned) {
  return tuned.result.conf(tuned.result.outcomes[tuned.result.best]);
}

Bytes peak_of(const TuneOutcome& outcome) { return outcome.total().peak_reserved; }

TEST(TuneListed, OnnxRuntimeTakesSixteenGibibytesMoreForALittleAndTheSettingAgainstItIsFound) {
  const TuneAnswer found = tuned(doubling(), "ort-arena");
  EXPECT_EQ(peak_of(found.result.baseline_outcome), 32 * kGiB);
  EXPECT_TRUE(found.result.helps);
  EXPECT_EQ(best_of(found), "arena_extend_strategy=kSameAsRequested");
  EXPECT_EQ(peak_of(found.result.outcomes[found.result.best]), 16 * kGiB + 456 * kMiB);
  EXPECT_EQ(found.result.as_set,
            "providers=[(\"CUDAExecutionProvider\", {\"arena_extend_strategy\": "
            "\"kSameAsRequested\"})]");
}

TEST(TuneListed, BeforeGrowthHadACapSmallWeightsDidThatToo) {
  const TuneAnswer found =
      tuned(small_weights(), "ort-arena:max_power_of_two_extend_bytes=1024GiB");
  EXPECT_EQ(peak_of(found.result.baseline_outcome), 32 * kGiB);
  EXPECT_EQ(peak_of(found.result.outcomes[found.result.best]), 262 * 64 * kMiB);
}

TEST(TuneListed, GivenOptionsStayAndAreSet) {
  const TuneAnswer found = tuned(doubling(), "ort-arena:max_dead_bytes_per_chunk=2MiB");
  EXPECT_EQ(found.result.as_set,
            "onnxruntime.OrtArenaCfg({\"max_dead_bytes_per_chunk\": 2097152, "
            "\"arena_extend_strategy\": 1})  # for create_and_register_allocator");
  for (const TuneOutcome& outcome : found.result.outcomes) {
    for (const Setting& setting : outcome.settings) {
      for (const auto& [key, value] : setting.of_another) {
        EXPECT_NE(key, "max_dead_bytes_per_chunk");
      }
    }
  }
}

TEST(TuneListed, WhatIsForbiddenIsNotVaried) {
  TuneQuestion question{.strategy = parse_strategy("ort-arena"), .threads = 1};
  question.forbidden = {"arena_extend_strategy"};
  const TuneAnswer found = answer(doubling(), question, {});
  EXPECT_FALSE(found.result.helps);
  EXPECT_EQ(found.result.outcomes.size(), 1u) << "no cap keeps a raised size down";
}

TEST(TuneListed, TheBudgetIsKeptAndTheDefaultsComeFirst) {
  const TuneAnswer found =
      answer(doubling(), {.strategy = parse_strategy("ort-arena"), .runs = 1, .threads = 1}, {});
  EXPECT_EQ(found.result.tried, 1u);
  EXPECT_EQ(best_of(found), "");
}

TEST(TuneListed, AStrategyWithoutAListIsRefused) {
  EXPECT_THROW(tuned(doubling(), "buddy"), UsageError);
  EXPECT_THROW(tuned(doubling(), "torch:max_split_size_mb=20"), UsageError);
}

}  // namespace
}  // namespace memreplay
