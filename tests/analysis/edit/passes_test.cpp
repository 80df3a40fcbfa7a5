#include <gtest/gtest.h>

#include "analysis/edit/program_course.hpp"
#include "analysis/edit/programs.hpp"

namespace memreplay {
namespace {

TEST(Passes, ABackwardPassHasNoFramesOfPython) {
  RecordingWriter writer;
  const auto own = writer.stack({"train.py:5 step"});
  const auto library = writer.stack({"site-packages/torch/optim/adamw.py:5 step"});
  const auto native = writer.stack({"engine.cpp:5 torch::autograd::Engine::execute()"});
  const auto called =
      writer.stack({"site-packages/torch/autograd/__init__.py:369 backward", "train.py:6 step"});
  const auto other = writer.stack({"models.py:7 backward", "train.py:6 step"});
  const Recording recording = writer.alloc(0, 8, own).recording();
  const Passes passes(recording, recording.traces.front());
  EXPECT_TRUE(passes.are_known());
  EXPECT_TRUE(passes.is_backward(0));
  EXPECT_TRUE(passes.is_backward(native));
  EXPECT_TRUE(passes.is_backward(called));
  EXPECT_FALSE(passes.is_backward(own));
  EXPECT_FALSE(passes.is_backward(library));
  EXPECT_FALSE(passes.is_backward(other));
}

TEST(Passes, RequestsBeforeAnEventAreCounted) {
  const Recording recording =
      ProgramWriter().at({"a.py:1 f"}).ask(8).ask(4).backward().ask(2).free(8).ask(1).recording();
  const Passes passes(recording, recording.traces.front());
  EXPECT_EQ(passes.others_before(0), 0u);
  EXPECT_EQ(passes.others_before(2), 2u);
  EXPECT_EQ(passes.backward_before(2), 0u);
  EXPECT_EQ(passes.backward_before(4), 1u);
  EXPECT_EQ(passes.backward_before(5), 2u) << "behind the last event";
}

TEST(Passes, SavedIsWhatABackwardPassFindsAndFrees) {
  const Recording recording = ProgramWriter()
                                  .at({"a.py:1 f"})
                                  .ask(1)
                                  .ask(2)
                                  .ask(3)
                                  .free(1)
                                  .backward()
                                  .ask(4)
                                  .free(2)
                                  .ask(5)
                                  .free(4)
                                  .recording();
  const Trace& trace = recording.traces.front();
  const Passes passes(recording, trace);
  const std::vector<BlockLife> blocks = lives_of(trace).blocks;
  EXPECT_FALSE(passes.is_saved(blocks[0])) << "freed in the forward";
  EXPECT_TRUE(passes.is_saved(blocks[1]));
  EXPECT_FALSE(passes.is_saved(blocks[2])) << "never freed";
  EXPECT_FALSE(passes.is_saved(blocks[3])) << "of the backward itself";
}

TEST(Passes, WithoutStacksNoneIsKnown) {
  Recording recording = RecordingWriter().alloc(0, 8).alloc(1, 4).free(0).recording();
  recording.stacks.clear();
  recording.traces.front().stacks.clear();
  const Passes passes(recording, recording.traces.front());
  EXPECT_FALSE(passes.are_known());
  EXPECT_FALSE(passes.is_saved(lives_of(recording.traces.front()).blocks[0]));
}

}  // namespace
}  // namespace memreplay
