#include "program/early_end.hpp"

#include <gtest/gtest.h>

#include "program/steps.hpp"
#include "support/programs.hpp"

namespace memreplay {
namespace {

using Why = EarlyEnd::Why;

constexpr Bytes kFirst = 100;
constexpr Bytes kLayers = 20;
constexpr Bytes kGradient = 1000;
constexpr Bytes kState = 2000;

/// A program that trains: a block of a size of its own for each layer, a gradient for each in the
/// backward pass, and what the optimizer keeps, from the first step on.
class Training {
 public:
  explicit Training(Bytes layers = kLayers) : layers_(layers) {
    for (Bytes i = 0; i < layers_; ++i) program_.at({"model.py:3 __init__"}).ask(kState + 500 + i);
  }

  Training& forward(Bytes until, Bytes more = 0) {
    for (Bytes i = 0; i < until; ++i) {
      program_.at({layer(i), "train.py:5 step"}).ask(kFirst + i + more);
    }
    return *this;
  }
  Training& backward(Bytes until, Bytes more = 0) {
    for (Bytes i = until; i-- > 0;) {
      program_.backward().ask(kGradient + i);
      program_.free(kFirst + i + more);
    }
    return *this;
  }
  Training& optimize(bool first) {
    const std::vector<std::string> step = {"/lib/torch/optim/adam.py:9 step", "train.py:8 step"};
    if (first) {
      for (Bytes i = 0; i < layers_; ++i) program_.at(step).ask(kState + i);
    }
    for (Bytes i = 0; i < layers_; ++i) program_.at(step).ask(50 + i).free(50 + i);
    for (Bytes i = 0; i < layers_; ++i) program_.free(kGradient + i);
    return *this;
  }
  Training& step(bool first, Bytes more = 0) {
    return forward(layers_, more).backward(layers_, more).optimize(first);
  }
  Recording dies_in_layer(Bytes i, Bytes more = 0) {
    program_.at({layer(i), "train.py:5 step"}).die(kFirst + i + more);
    return recording();
  }
  Recording recording() { return program_.recording(); }
  ProgramWriter& program() { return program_; }

 private:
  static std::string layer(Bytes i) { return fmt::format("model.py:{} forward", 10 + i); }

  Bytes layers_;
  ProgramWriter program_;
};

std::optional<Why> why(const Recording& recording) {
  const auto end = early_end(recording, recording.traces.front());
  return end ? std::optional(end->why) : std::nullopt;
}

TEST(EarlyEnd, ARecordingThatRanToItsEndIsWhole) {
  EXPECT_FALSE(why(Training().step(true).step(false).recording()));
}

TEST(EarlyEnd, AnOomInTheFirstForwardPassLeavesTheRestOpen) {
  EXPECT_EQ(why(Training().forward(18).dies_in_layer(18)), Why::first_step);
}

TEST(EarlyEnd, AnOomInTheFirstBackwardPassDoesToo) {
  Training training;
  training.forward(kLayers).program().backward().ask(kGradient + kLayers - 1).die(1);
  const Recording recording = training.recording();
  const auto end = early_end(recording, recording.traces.front());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->why, Why::first_step);
  EXPECT_EQ(end->pass, EarlyEnd::Pass::backward);
}

TEST(EarlyEnd, AlikeLayersOfAForwardPassAreNoSteps) {
  ProgramWriter program;
  for (int layer = 0; layer < 6; ++layer) {
    for (Bytes i = 0; i < kLayers; ++i) {
      program.at({"model.py:7 forward", "train.py:5 step"}).ask(kFirst + i);
    }
  }
  program.die(kFirst);
  EXPECT_EQ(why(program.recording()), Why::first_step);
}

TEST(EarlyEnd, AnOptimizerThatMakesItsStateIsInTheFirstStep) {
  Training training;
  training.forward(kLayers).backward(kLayers).program().at(
      {"/lib/torch/optim/adam.py:9 step", "train.py:8 step"});
  for (Bytes i = 0; i < kLayers - 1; ++i) training.program().ask(kState);
  training.program().die(kState);
  EXPECT_EQ(why(training.recording()), Why::first_step);
}

TEST(EarlyEnd, WhatTheRestOfAnEarlierStepNeedsMoreIsOpen) {
  // The second step has what the optimizer keeps beside it, and dies before its peak.
  EXPECT_EQ(why(Training().step(true).forward(18).dies_in_layer(18)), Why::rest_may_need_more);
}

TEST(EarlyEnd, AStepThatDiesAtItsPeakIsWhole) {
  Training training;
  training.step(true).forward(kLayers).program().backward().die(kGradient + kLayers - 1);
  // Each gradient is larger than the block that is freed for it.
  EXPECT_EQ(why(training.recording()), Why::rest_may_need_more);
  Training last;
  last.step(true).forward(kLayers);
  for (Bytes i = kLayers; i-- > 1;) last.program().backward().ask(kGradient + i).free(kFirst + i);
  last.program().backward().die(kGradient);
  EXPECT_FALSE(why(last.recording()));
}

TEST(EarlyEnd, GradientsThatAreDroppedBeforeTheNextRequestWereUsed) {
  // An optimizer that asks for nothing, then zero_grad().
  const auto step = [](Training& training, Bytes kept) {
    training.forward(kLayers).backward(kLayers);
    for (Bytes i = kept; i < kLayers; ++i) training.program().free(kGradient + i);
  };
  Training dropped;
  step(dropped, 0);
  EXPECT_FALSE(why(dropped.forward(18).dies_in_layer(18)));
  Training kept;
  step(kept, kLayers);
  EXPECT_EQ(why(kept.forward(18).dies_in_layer(18)), Why::steps_unknown);
  Training last_alone;  // as a pass drops what its last operation needed
  step(last_alone, kLayers - 1);
  EXPECT_EQ(why(last_alone.forward(18).dies_in_layer(18)), Why::steps_unknown);
}

TEST(EarlyEnd, StepsOfOtherShapesSayNothingOfOneAnother) {
  EXPECT_EQ(why(Training().step(true).forward(18, 3000).dies_in_layer(18, 3000)),
            Why::unlike_earlier);
}

Ends ends(const Recording& recording) {
  return facts_of(recording, recording.traces.front()).ends();
}

TEST(RecordingFacts, SayWhereARecordingEnds) {
  EXPECT_EQ(ends(Training().step(true).step(false).recording()), Ends::whole);
  EXPECT_EQ(ends(Training().forward(18).dies_in_layer(18)), Ends::oom_in_first_step);
  EXPECT_EQ(ends(Training().step(true).forward(18).dies_in_layer(18)), Ends::oom_later);
  EXPECT_EQ(ends(Training().step(true).forward(18, 3000).dies_in_layer(18, 3000)), Ends::oom_later);
  RecordingWriter writer;
  writer.alloc(0, kFirst);
  writer.add(Op::oom, kNoSlot, kFirst);
  EXPECT_EQ(ends(writer.recording()), Ends::cut);
}

TEST(EarlyEnd, AForwardPassOfALaterStepIsOne) {
  const Recording recording = Training().step(true).forward(18, 3000).dies_in_layer(18, 3000);
  EXPECT_EQ(early_end(recording, recording.traces.front())->pass, EarlyEnd::Pass::forward);
}

TEST(EarlyEnd, WhatFollowsABackwardPassWhoseGradientsAreNotUsedIsLater) {
  Training training;
  training.forward(kLayers).backward(kLayers).program().at({"train.py:7 clip"}).die(9);
  const Recording recording = training.recording();
  EXPECT_EQ(early_end(recording, recording.traces.front())->pass, EarlyEnd::Pass::later);
}

TEST(EarlyEnd, ADivergingShapeShowsBeforeAlikeRequests) {
  // The second step is longer, and dies where all shapes are alike.
  Training training;
  training.step(true, 0).forward(kLayers, 3000).backward(kLayers, 3000);
  training.program().at({"/lib/torch/optim/adam.py:9 step", "train.py:8 step"});
  for (Bytes i = 0; i < 18; ++i) training.program().ask(50 + i).free(50 + i);
  training.program().die(68);
  EXPECT_EQ(why(training.recording()), Why::unlike_earlier);
}

TEST(EarlyEnd, AProgramThatGoesOnAfterAnOomDoesNotEndAtIt) {
  Training training;
  training.forward(18);
  training.program().die(1);
  for (Bytes i = 0; i < 16; ++i) training.program().at({"train.py:30 retry"}).ask(7).free(7);
  EXPECT_FALSE(why(training.recording()));
}

TEST(EarlyEnd, AProgramThatAsksAgainWhereItWasRefusedDoesNotEndThere) {
  Training training;
  training.forward(18);
  training.program().at({"train.py:30 retry"}).die(9);
  EXPECT_TRUE(why(training.recording()));
  training.program().at({"train.py:30 retry"}).ask(7).free(7);
  EXPECT_FALSE(why(training.recording()));
}

TEST(EarlyEnd, WithoutStacksMarkersShowTheSteps) {
  const auto failed = [](bool marked) {
    RecordingWriter writer;
    const auto step = [&](Slot until) {
      for (Slot i = 0; i < until; ++i) writer.alloc(i, kFirst + i);
    };
    step(30);
    for (Slot i = 0; i < 30; ++i) writer.free(i);
    if (marked) writer.add(Op::marker, kNoSlot, 0);
    step(29);
    writer.add(Op::oom, kNoSlot, kFirst + 29);
    return writer.recording();
  };
  EXPECT_EQ(why(failed(false)), Why::steps_unknown);
  EXPECT_FALSE(why(failed(true)));
}

TEST(EarlyEnd, UnderThrowOnCudamallocOomARecordingMayEndAtOneThatIsNotInIt) {
  Recording recording = Training().step(true).recording();
  recording.format = "torch-snapshot";
  recording.settings.present = true;
  EXPECT_FALSE(why(recording));
  recording.settings.conf = "throw_on_cudamalloc_oom:True";
  EXPECT_EQ(why(recording), Why::oom_untold);
}

TEST(RestOfStep, GoesOnAsTheStepBeforeAndOneStepMore) {
  const Recording recording = Training().step(true).forward(17).dies_in_layer(17);
  const Trace& trace = recording.traces.front();
  const auto completed = with_rest_of_step(Subject(recording, trace));
  ASSERT_TRUE(completed);
  EXPECT_TRUE(completed->begins_alike);
  const Trace& made = completed->made.trace();
  // Both steps keep a forward pass, gradients and an optimizer's temporaries; its state stays.
  EXPECT_EQ(allocations_of(made).size(),
            allocations_of(trace).size() + 3 + 2 * kLayers + 3 * kLayers);
  const Recording whole = Training().step(true).step(false).step(false).recording();
  Bytes left = 0;
  for (const BlockLife& life : lives_of(made).blocks) left += life.freed == BlockLife::kNever;
  Bytes left_by_whole = 0;
  for (const BlockLife& life : lives_of(whole.traces.front()).blocks) {
    left_by_whole += life.freed == BlockLife::kNever;
  }
  EXPECT_EQ(left, left_by_whole);
}

TEST(RestOfStep, AFailureInTheFirstStepHasNoneBefore) {
  const Recording recording = Training().forward(18).dies_in_layer(18);
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

TEST(RestOfStep, AFewRequestsInCommonAreNoStep) {
  const Recording recording = Training().step(true).forward(10).dies_in_layer(10);
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

TEST(RestOfStep, ARecordingThatDidNotFailIsWhole) {
  const Recording recording = two_layers().recording();
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

TEST(CommonPrefixes, AgreeWithASlowCount) {
  for (const std::vector<std::uint64_t>& sequence :
       {std::vector<std::uint64_t>{}, {7}, {1, 1, 1, 1}, {1, 2, 1, 2, 1, 3}, {1, 2, 3}}) {
    const std::vector<std::size_t> counted = common_prefixes(sequence);
    ASSERT_EQ(counted.size(), sequence.size());
    for (std::size_t i = 1; i < sequence.size(); ++i) {
      std::size_t same = 0;
      while (i + same < sequence.size() && sequence[same] == sequence[i + same]) ++same;
      EXPECT_EQ(counted[i], same);
    }
  }
}

}  // namespace
}  // namespace memreplay
