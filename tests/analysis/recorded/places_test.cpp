#include "analysis/recorded/places.hpp"

#include <gtest/gtest.h>

#include "analysis/recordings.hpp"

namespace memreplay {
namespace {

std::string place_of(const std::vector<std::string>& frames) {
  RecordingWriter writer;
  const std::uint32_t stack = writer.stack(frames);
  return Places(writer.recording()).name_of_stack(stack);
}

TEST(Places, TheInnermostFrameOfTheProgramItselfNamesAStack) {
  EXPECT_EQ(place_of({"CUDACachingAllocator.cpp:0 malloc",
                      "/venv/lib/python3.12/site-packages/torch/nn/functional.py:2901 layer_norm",
                      "??:0 cfunction_call", "/home/me/model.py:41 forward",
                      "/home/me/train.py:88 main"}),
            "model.py:41 forward");
}

TEST(Places, WithoutAFrameOfTheProgramTheInnermostPythonFrameNamesIt) {
  EXPECT_EQ(place_of({"/usr/lib/python3/dist-packages/torch/optim/adam.py:12 step",
                      "/usr/lib/python3/dist-packages/torch/optim/optimizer.py:7 wrapper"}),
            "adam.py:12 step");
}

TEST(Places, WithoutPythonTheBackwardFunctionNamesIt) {
  EXPECT_EQ(place_of({"CUDACachingAllocator.cpp:0 c10::cuda::CUDACachingAllocator::malloc",
                      "??:0 at::native::mul(at::Tensor const&)",
                      "??:0 torch::autograd::generated::SqrtBackward0::apply(std::vector<int>)"}),
            "SqrtBackward0::apply");
}

TEST(Places, WithoutThatTheInnermostFrameWithAName) {
  EXPECT_EQ(place_of({"??:0 torch::unwind::unwind()", "x.cpp:0 c10::StorageImpl::reset()",
                      "??:0 at::_ops::mul::call(at::Tensor const&)"}),
            "at::_ops::mul::call");
}

TEST(Places, FramesThatServeAnyProgramAreNoise) {
  RecordingWriter writer;
  writer.stack({"x.cpp:0 c10::StorageImpl::reset()",
                "/venv/lib/python3.12/site-packages/torch/nn/functional.py:2901 layer_norm",
                "/home/me/model.py:41 forward"});
  const Recording recording = writer.recording();
  EXPECT_TRUE(is_noise(recording, recording.frames[0]));
  EXPECT_TRUE(is_noise(recording, recording.frames[1]));
  EXPECT_FALSE(is_noise(recording, recording.frames[2]));
}

TEST(Places, StacksOfOnePlaceShareItsNumber) {
  RecordingWriter writer;
  const auto a = writer.stack({"model.py:41 forward", "train.py:1 main"});
  const auto b = writer.stack({"model.py:41 forward", "eval.py:9 main"});
  const Places places(writer.recording());
  EXPECT_EQ(places.of(a), places.of(b));
  EXPECT_EQ(places.name_of_stack(0), "(no stack recorded)");
  EXPECT_EQ(places.size(), 2u);
}

}  // namespace
}  // namespace memreplay
