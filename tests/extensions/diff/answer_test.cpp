#include "extensions/diff/answer.hpp"

#include <gtest/gtest.h>

#include "core/control.hpp"

namespace memreplay {
namespace {

DiffAnswer diff_of(const std::vector<std::string>& names, const DiffQuestion& question) {
  InputOptions input;
  for (const std::string& name : names) {
    input.paths.push_back(std::string(MEMREPLAY_TRACES) + "/torch/" + name);
  }
  return answer(Inputs(input), question, {});
}

TEST(DiffAnswer, TwoRecordingsAreComparedAsRecordedOrUnderAStrategy) {
  const DiffAnswer recorded = diff_of({"layers_4.pickle", "layers_5.pickle"}, {});
  EXPECT_FALSE(std::get<RecordingsAnswer>(recorded).device);
  EXPECT_FALSE(std::get<RecordingsAnswer>(recorded).diff.a.run);
  DiffQuestion question;
  question.strategies = {parse_strategy("bfc")};
  const DiffAnswer replayed = diff_of({"layers_4.pickle", "layers_5.pickle"}, question);
  EXPECT_TRUE(std::get<RecordingsAnswer>(replayed).device);
  EXPECT_EQ(std::get<RecordingsAnswer>(replayed).diff.b.run->strategy, "bfc");
}

TEST(DiffAnswer, OfALateRecordingThePeakIsAnEstimate) {
  DiffQuestion question;
  question.strategies = {parse_strategy("torch:expandable_segments=True")};
  const DiffAnswer answered = diff_of({"warm_ring.pickle", "warm_ring.pickle"}, question);
  const RecordingsDiff& diff = std::get<RecordingsAnswer>(answered).diff;
  ASSERT_TRUE(diff.a.run->interval);
  EXPECT_EQ(diff.a_peak.reserved, diff.a.run->metrics.peak_reserved);
}

TEST(DiffAnswer, TwoStrategiesAreComparedOnTheFirstDevice) {
  DiffQuestion question;
  question.strategies = {parse_strategy("torch"), parse_strategy("bfc")};
  const DiffAnswer answered = diff_of({"layers_4.pickle"}, question);
  const auto& strategies = std::get<StrategiesAnswer>(answered);
  EXPECT_EQ(strategies.diff.runs[1].strategy, "bfc");
  EXPECT_NE(strategies.diff.runs[0].place, strategies.diff.runs[1].place);
}

}  // namespace
}  // namespace memreplay
