#include "questions/convert/answer.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "core/control.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

ConvertQuestion question_of(const std::string& name) {
  ConvertQuestion question;
  question.input.paths = {std::string(MEMREPLAY_TRACES) + "/" + name};
  return question;
}

TEST(ConvertAnswer, ARecordingWithoutAddressesNeedsAStrategy) {
  ConvertQuestion question = question_of("maxinuse-900.csv");
  EXPECT_THROW(answer(question, {}), UsageError);
  question.strategy = parse_strategy("torch");
  const ConvertAnswer answered = answer(question, {});
  ASSERT_TRUE(answered.recording);
  EXPECT_FALSE(answered.recording->traces.at(0).addresses.empty());
  ASSERT_EQ(answered.runs.size(), 1u);
  EXPECT_FALSE(answered.runs[0].interval);
}

TEST(ConvertAnswer, OfALateStartTheProgramItselfIsEstimated) {
  ConvertQuestion question = question_of("torch/warm_ring.pickle");
  question.strategy = parse_strategy("torch:expandable_segments=True");
  const ConvertAnswer answered = answer(question, {});
  ASSERT_EQ(answered.runs.size(), 1u);
  EXPECT_TRUE(answered.runs[0].interval);
}

TEST(ConvertAnswer, AMinimisedTraceStandsForTheWhole) {
  ConvertQuestion question = question_of("torch/gpt_train_oom.pickle");
  question.strategy = parse_strategy("recorded");
  question.setup.capacity = 5226 * kMiB;
  question.minimise = MinimiseQuestion{};
  question.with_addresses = false;
  question.one_device = true;
  const ConvertAnswer answered = answer(question, {});
  ASSERT_TRUE(answered.minimised && answered.recording);
  EXPECT_EQ(answered.minimised->events, answered.recording->traces.at(0).size());
  EXPECT_EQ(answered.minimised->arguments.at(1), "torch");
  EXPECT_TRUE(answered.runs.empty());
}

TEST(ConvertAnswer, AfterAnInterruptionThereIsNothingToWrite) {
  ConvertQuestion question = question_of("torch/side_streams.pickle");
  question.strategy = parse_strategy("torch");
  const std::atomic<bool> stop = true;
  const ConvertAnswer answered = answer(question, {.stop = &stop});
  EXPECT_TRUE(answered.interrupted);
  EXPECT_FALSE(answered.recording);
}

}  // namespace
}  // namespace memreplay
