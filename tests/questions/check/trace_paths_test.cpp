#include <gtest/gtest.h>

#include "questions/check/answer.hpp"
#include "questions/check/plan.hpp"

namespace memreplay {
namespace {

TEST(TracePaths, AreKeptFromTheFolderOfTheBaseline) {
  EXPECT_EQ(kept_path("run.pickle", "memory.json"), "run.pickle");
  EXPECT_EQ(kept_path("./traces/run.pickle", "memory.json"), "traces/run.pickle");
  EXPECT_EQ(kept_path("traces/run.pickle", "ci/memory.json"), "../traces/run.pickle");
  EXPECT_EQ(kept_path("/data/run.pickle", "/data/ci/memory.json"), "../run.pickle");
  EXPECT_EQ(kept_path("-", "ci/memory.json"), "-");
}

TEST(TracePaths, AreFoundFromAnyFolder) {
  const std::string baseline = "/data/ci/memory.json";
  EXPECT_TRUE(is_kept_path("../run.pickle", "/data/run.pickle", baseline));
  EXPECT_TRUE(is_kept_path("../run.pickle", "/data/x/../run.pickle", baseline));
  EXPECT_FALSE(is_kept_path("run.pickle", "/data/run.pickle", baseline));
}

TEST(TracePaths, OfAnEarlyBaselineAreFoundAsTheyWereGiven) {
  EXPECT_TRUE(is_kept_path("traces/run.pickle", "./traces/run.pickle", "ci/memory.json"));
  EXPECT_TRUE(is_kept_path("/data/run.pickle", "/data/run.pickle", "ci/memory.json"));
}

TEST(TracePaths, AFileBesideTheBaselineIsNotOneOfTheSameNameElsewhere) {
  const std::string traces = MEMREPLAY_TRACES;
  EXPECT_FALSE(is_kept_path("layers.json", "layers.json", traces + "/memory.json"));
}

TEST(TracePaths, AnUpdateRenewsThemAndKeepsEachEntryOnce) {
  const std::string trace = MEMREPLAY_TRACES "/torch/layers_4.pickle";
  const Inputs inputs({.paths = {trace}});
  Baseline early;
  early.add({.trace = trace, .metrics = {{"peak_reserved_bytes", {.value = 7}}}});
  early.add({.trace = "other.csv"});
  const CheckQuestion question{.baseline = MEMREPLAY_TRACES "/ci/memory.json"};
  const UpdateAnswer answered = answer_update(inputs, early, question, {});
  ASSERT_EQ(answered.renewed.entries.size(), 2u);
  EXPECT_EQ(answered.renewed.entries[0].trace, "../torch/layers_4.pickle");
  EXPECT_EQ(answered.entries.at(0).kind, EntryUpdate::Kind::changed);
  EXPECT_EQ(answered.entries[0].check.trace, trace);
  EXPECT_TRUE(answer(inputs, answered.renewed, question, {}).passed());
}

}  // namespace
}  // namespace memreplay
