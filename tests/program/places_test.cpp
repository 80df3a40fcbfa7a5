#include "program/places.hpp"

#include <gtest/gtest.h>

#include "support/recordings.hpp"

namespace memreplay {
namespace {

using Labels = std::map<std::string, std::string>;

TEST(PathLabels, HaveAsManyFoldersAsTellThemApart) {
  EXPECT_EQ(path_labels({"/p/enc/model.py", "/p/dec/model.py", "/p/train.py"}),
            (Labels{{"/p/enc/model.py", "enc/model.py"},
                    {"/p/dec/model.py", "dec/model.py"},
                    {"/p/train.py", "train.py"}}));
  EXPECT_EQ(
      path_labels({"/a/x/m.py", "/b/x/m.py", "/b/y/m.py"}),
      (Labels{{"/a/x/m.py", "a/x/m.py"}, {"/b/x/m.py", "b/x/m.py"}, {"/b/y/m.py", "y/m.py"}}));
}

TEST(PathLabels, APathThatEndsAnotherStaysApartFromIt) {
  EXPECT_EQ(path_labels({"m.py", "/p/m.py"}), (Labels{{"m.py", "m.py"}, {"/p/m.py", "p/m.py"}}));
  EXPECT_EQ(path_labels({"/m.py", "m.py"}), (Labels{{"/m.py", "/m.py"}, {"m.py", "m.py"}}));
}

TEST(PathLabels, TidyPathsHaveOneSpelling) {
  EXPECT_EQ(tidy_path("/a/b/../c/./d.py"), "/a/c/d.py");
  EXPECT_EQ(tidy_path("C:\\a\\b.py"), "C:/a/b.py");
  EXPECT_EQ(tidy_path("../x.py"), "../x.py");
  EXPECT_EQ(tidy_path("<a/b>"), "<a/b>");
}

using Names = std::vector<std::string>;

TEST(PlaceMatching, TheSameNameIsTheSamePlace) {
  const auto pairs = match_places({"a.py:1 f", "at::empty"}, {"a.py:1 f", "at::empty"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].before, Names{"a.py:1 f"});
  EXPECT_EQ(pairs[0].now, Names{"a.py:1 f"});
  EXPECT_EQ(pairs[1].name, "at::empty");
}

TEST(PlaceMatching, LinesThatMovedTogetherAreTheSameInOrder) {
  const auto pairs = match_places({"a.py:9 f", "a.py:10 f"}, {"a.py:10 f", "a.py:11 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].before, Names{"a.py:9 f"});
  EXPECT_EQ(pairs[0].name, "a.py:10 f");
  EXPECT_EQ(pairs[1].now, Names{"a.py:11 f"});
}

TEST(PlaceMatching, ALineThatIsGoneLeavesTheOthersAsTheyWere) {
  const auto pairs = match_places({"a.py:1 f", "a.py:2 f"}, {"a.py:2 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "a.py:1 f");
  EXPECT_TRUE(pairs[0].now.empty());
  EXPECT_EQ(pairs[1].before, pairs[1].now);
}

TEST(PlaceMatching, WhereLinesMovedAndCameTheFunctionIsOnePlace) {
  const auto pairs = match_places({"a.py:1 f"}, {"a.py:2 f", "a.py:3 f"});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].name, "a.py f");
  EXPECT_EQ(pairs[0].now, (Names{"a.py:2 f", "a.py:3 f"}));
}

TEST(PlaceMatching, AFunctionOfOneSideOnlyIsNewOrGone) {
  const auto pairs = match_places({"a.py:1 f"}, {"a.py:1 g"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].now.empty());
  EXPECT_TRUE(pairs[1].before.empty());
}

/// With what only changed its name as one.
std::vector<PlacePair> joined(const PlaceSizes& before, const PlaceSizes& now) {
  std::set<std::string> names[2];
  for (const auto& [name, sizes] : before) names[0].insert(name);
  for (const auto& [name, sizes] : now) names[1].insert(name);
  std::vector<PlacePair> pairs = match_places(names[0], names[1]);
  join_renamed(pairs, before, now);
  return pairs;
}

TEST(PlaceMatching, AFunctionOrAFileThatOnlyChangedItsNameIsTheSame) {
  const auto function = joined({{"a.py:7 f", {{10, 3}}}}, {{"a.py:7 g", {{16, 3}}}});
  ASSERT_EQ(function.size(), 1u);
  EXPECT_EQ(function[0].name, "a.py:7 g");
  EXPECT_EQ(function[0].before, Names{"a.py:7 f"});
  EXPECT_TRUE(function[0].renamed);
  EXPECT_EQ(joined({{"a.py:7 f", {{10, 3}}}}, {{"b.py:7 f", {{16, 3}}}}).size(), 1u);
}

TEST(PlaceMatching, SoIsOneThatRequestsTheSameSizes) {
  const PlaceSizes before = {{"a.py:7 f", {{10, 3}, {4, 1}}}, {"a.py:3 h", {{99, 1}}}};
  const auto pairs = joined(before, {{"a.py:9 g", {{10, 3}, {5, 2}}}, {"a.py:3 h", {{99, 1}}}});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(joined(before, {{"b.py:9 f", {{10, 3}, {4, 1}}}, {"a.py:3 h", {{99, 1}}}}).size(), 2u);
  EXPECT_EQ(joined(before, {{"b.py:9 g", {{10, 3}, {4, 1}}}, {"a.py:3 h", {{99, 1}}}}).size(), 3u);
}

TEST(PlaceMatching, OneThatRequestsSomethingElseIsNot) {
  EXPECT_EQ(joined({{"a.py:7 f", {{10, 3}}}}, {{"a.py:9 g", {{16, 3}}}}).size(), 2u);
  EXPECT_EQ(joined({{"a.py:7 f", {{10, 3}}}}, {{"b.py:9 g", {{10, 3}, {16, 3}}}}).size(), 2u);
}

TEST(PlaceMatching, AFileOfFewerFoldersIsTheOneThatEndsSo) {
  const auto pairs = match_places({"model.py:10 f", "model.py:12 f"},
                                  {"enc/model.py:10 f", "enc/model.py:12 f", "dec/other.py:1 g"});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_TRUE(pairs[0].before.empty());
  EXPECT_EQ(pairs[1].name, "enc/model.py:10 f");
  EXPECT_EQ(pairs[1].before, Names{"model.py:10 f"});
  EXPECT_EQ(pairs[2].before, Names{"model.py:12 f"});
}

TEST(PlaceMatching, WhereSeveralFilesEndSoTheirFunctionIsOnePlace) {
  const auto pairs = match_places({"model.py:10 f"}, {"enc/model.py:10 f", "dec/model.py:10 f"});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].name, "model.py f");
  EXPECT_EQ(pairs[0].before, Names{"model.py:10 f"});
  EXPECT_EQ(pairs[0].now, (Names{"dec/model.py:10 f", "enc/model.py:10 f"}));
}

TEST(PlaceMatching, AFileThatIsOnBothSidesIsNoOther) {
  const auto pairs =
      match_places({"enc/model.py:1 f", "dec/model.py:1 f"}, {"enc/model.py:1 f", "model.py:1 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "enc/model.py:1 f");
  EXPECT_EQ(pairs[0].before, Names{"enc/model.py:1 f"});
  EXPECT_EQ(pairs[1].before, Names{"dec/model.py:1 f"});
  EXPECT_EQ(pairs[1].now, Names{"model.py:1 f"});
}

std::string place_of(const std::vector<std::string>& frames, PlaceBy by = PlaceBy::place) {
  RecordingWriter writer;
  const std::uint32_t stack = writer.stack(frames);
  return Places(writer.recording(), by).name_of({.stack = stack});
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
            "SqrtBackward0 (autograd)");
}

TEST(Places, AutogradItselfOwnsNothing) {
  EXPECT_EQ(place_of({"??:0 at::_ops::add::call(at::Tensor const&)",
                      "??:0 torch::autograd::InputBuffer::add(unsigned long)",
                      "??:0 torch::autograd::Engine::evaluate_function()"}),
            "gradient sums (autograd)");
  EXPECT_EQ(
      place_of({"??:0 torch::unwind::unwind()", "??:0 torch::autograd::Engine::thread_main(int)"}),
      "backward pass (autograd)");
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

TEST(Places, OfAnInstalledPackageAndPyTorchThePackageNamesIt) {
  EXPECT_EQ(place_of({"/v/site-packages/torch/nn/modules/linear.py:125 forward",
                      "/v/site-packages/transformers/models/llama.py:88 forward",
                      "/v/site-packages/transformers/trainer.py:9 train"}),
            "llama.py:88 forward");
}

TEST(Places, GeneratedCodeIsItsCallersOrOnePlace) {
  const std::string kernel = "/tmp/torchinductor_me/ab/c" + std::string(51, '7') + ".py";
  const std::string torch = "/v/site-packages/torch/_inductor/utils.py:3 run";
  EXPECT_EQ(place_of({kernel + ":120 call", torch, "/p/model.py:10 forward"}),
            "model.py:10 forward");
  EXPECT_EQ(place_of({kernel + ":120 call", torch}), "c77777777777….py (generated)");
  EXPECT_EQ(place_of({kernel + ":120 call"}, PlaceBy::module), "(generated code)");
}

TEST(Places, FilesOfOneNameHaveTheirFolders) {
  RecordingWriter writer;
  const auto enc = writer.stack({"/p/enc/model.py:10 forward"});
  const auto dec = writer.stack(
      {"\\py\\Lib\\site-packages\\torch\\functional.py:373 einsum", "/p/dec/model.py:10 forward"});
  const auto main = writer.stack({"/p/train.py:3 main"});
  const Recording recording = writer.recording();
  const Places places(recording);
  EXPECT_EQ(places.name_of({.stack = enc}), "enc/model.py:10 forward");
  EXPECT_EQ(places.name_of({.stack = dec}), "dec/model.py:10 forward");
  EXPECT_EQ(places.name_of({.stack = main}), "train.py:3 main");
  const Places modules(recording, PlaceBy::module);
  EXPECT_EQ(modules.name_of({.stack = enc}), "enc/");
  EXPECT_EQ(modules.name_of({.stack = main}), "p/");
}

TEST(Places, ByFunctionAndByFileLinesCountAsOne) {
  EXPECT_EQ(place_of({"/p/model.py:10 forward"}, PlaceBy::function), "model.py forward");
  EXPECT_EQ(place_of({"/p/model.py:10 forward"}, PlaceBy::file), "model.py");
}

TEST(Places, ALineThatIsNoneIsNotShown) {
  EXPECT_EQ(place_of({"/p/model.py:4294967295 forward"}), "model.py forward");
}

TEST(Places, ATagStandsWhereThereIsNoStack) {
  RecordingWriter writer;
  const auto stack = writer.stack({"/p/model.py:10 forward"});
  writer.alloc(0, 8).alloc(1, 8);
  const std::uint32_t tag = writer.text("optimizer");
  Recording recording = writer.recording();
  recording.traces[0].tags = {tag, 0};
  const Places places(recording);
  EXPECT_EQ(places.name_of(asker_of(recording.traces[0], 0)), "optimizer");
  EXPECT_EQ(places.name_of(asker_of(recording.traces[0], 1)), "(no stack recorded)");
  EXPECT_EQ(places.name_of({.stack = stack, .tag = tag}), "model.py:10 forward");
}

TEST(Places, WhatWasThereBeforeIsSaidToBe) {
  RecordingWriter writer;
  const auto stack = writer.stack({"/p/model.py:10 forward"});
  const Recording recording = writer.recording();
  const Places places(recording);
  EXPECT_EQ(places.name_of({.before = true}), "(from before the recording)");
  EXPECT_EQ(places.name_of({.stack = stack, .before = true}), "model.py:10 forward");
}

TEST(Places, StacksOfOnePlaceShareItsNumber) {
  RecordingWriter writer;
  const auto a = writer.stack({"model.py:41 forward", "train.py:1 main"});
  const auto b = writer.stack({"model.py:41 forward", "eval.py:9 main"});
  const Recording recording = writer.recording();
  const Places places(recording);
  EXPECT_EQ(places.of({.stack = a}), places.of({.stack = b}));
  EXPECT_EQ(places.name_of({}), "(no stack recorded)");
}

TEST(Places, NoiseIsWhatIsNotTheProgramsOwn) {
  RecordingWriter writer;
  writer.stack({"/v/site-packages/torch/x.py:1 f", "/p/model.py:41 forward", "??:0 f"});
  const Recording recording = writer.recording();
  EXPECT_TRUE(is_noise(recording, recording.frames[0]));
  EXPECT_FALSE(is_noise(recording, recording.frames[1]));
  EXPECT_TRUE(is_noise(recording, recording.frames[2]));
  EXPECT_EQ(frame_text(recording, recording.frames[1]), "/p/model.py:41 forward");
}

}  // namespace

}  // namespace memreplay
