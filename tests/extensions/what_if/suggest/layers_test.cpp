#include "extensions/what_if/suggest/layers.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "support/programs.hpp"

namespace memreplay {
namespace {

TEST(Layers, CodeThatRunsSeveralTimesInAForwardPassIsALayer) {
  const Recording recording = two_layers().recording();
  const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].selector(), "code=models.py:11-13");
  EXPECT_EQ(layers[0].function, "forward");
  EXPECT_EQ(layers[0].calls, std::vector<std::string>{"train.py:5"});
  EXPECT_TRUE(layers[0].in_loop);
  EXPECT_EQ(layers[0].instances, 2u);
  EXPECT_EQ(layers[0].begins, 1u);
  EXPECT_EQ(layers[0].saved, 11u + 12 + 13 + 21 + 22 + 23);
}

/// Three blocks, then a norm: all methods are called forward and stand in one file, as in
/// `x + mix(norm(x))`. Called from `caller`.
ProgramWriter tower(const std::string& caller) {
  const auto at = [&](std::initializer_list<int> lines) {
    std::vector<std::string> frames;
    for (const int line : lines) frames.push_back(fmt::format("model.py:{} forward", line));
    frames.push_back(caller);
    return frames;
  };
  ProgramWriter program;
  program.at(at({45})).ask(100);
  for (Bytes block = 1000; block < 4000; block += 1000) {
    for (const int line : {37, 38}) {
      const Bytes half = block + static_cast<Bytes>(line) * 10;
      program.at(at({19, line, 49})).ask(half + 1);
      program.at(at({28, line, 49})).ask(half + 2);
      program.at(at({line, 49})).ask(half + 3);
    }
  }
  program.at(at({19, 50})).ask(200).backward().ask(300).free(200);
  for (Bytes block = 3000; block >= 1000; block -= 1000) {
    for (const int line : {38, 37}) {
      for (const Bytes part : {3, 2, 1}) {
        program.free(block + static_cast<Bytes>(line) * 10 + part);
      }
    }
  }
  program.free(100).free(300);
  return program;
}

TEST(Layers, MethodsOfOneNameInOneFileAreToldApartByTheirCallers) {
  const Recording recording = tower("train.py:5 step").recording();
  std::string told;
  for (const LayerCode& layer : layers_of(recording, recording.traces.front())) {
    told += fmt::format("{} x{} at {}{}; ", layer.code, layer.instances,
                        fmt::join(layer.calls, ", "), layer.in_loop ? " in a loop" : "");
  }
  EXPECT_EQ(told,
            "model.py:37-38 x3 at model.py:49 in a loop; "
            "model.py:19-19 x7 at model.py:37, model.py:38, model.py:50; "
            "model.py:28-28 x6 at model.py:37, model.py:38; ");
}

TEST(Layers, AContainerIsNoDirectCall) {
  for (const std::string file : {"module.py", "container.py"}) {
    ProgramWriter program;
    for (const Bytes layer : {10, 20}) {
      for (const Bytes line : {7, 8}) {
        program
            .at({fmt::format("model.py:3{} forward", line),
                 "site-packages/torch/nn/modules/" + file + ":250 forward", "model.py:49 forward",
                 "train.py:5 step"})
            .ask(layer + line);
      }
    }
    program.backward().ask(40).free(28).free(27).free(18).free(17).free(40);
    const Recording recording = program.recording();
    const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
    ASSERT_EQ(layers.size(), 1u);
    EXPECT_EQ(layers[0].code, "model.py:37-38");
    EXPECT_EQ(layers[0].called_directly, file == "module.py");
  }
}

/// Layers of `file`, called by a loop in `model`, of a program whose own code is train.py.
ProgramWriter built_from(const std::string& file, const std::string& model) {
  ProgramWriter program;
  for (const Bytes layer : {100, 200, 300}) {
    for (const Bytes line : {37, 38}) {
      program
          .at({fmt::format("{}:{} forward", file, line),
               "site-packages/torch/nn/modules/module.py:250 _call_impl", model + ":49 forward",
               "train.py:5 <module>"})
          .ask(layer + line);
    }
  }
  program.backward().ask(40);
  for (const Bytes layer : {300, 200, 100}) program.free(layer + 38).free(layer + 37);
  program.free(40);
  return program;
}

TEST(Layers, OfAPackageAreFoundWhereTheProgramHasNone) {
  const Recording recording =
      built_from("site-packages/vision/vit.py", "site-packages/vision/vit.py").recording();
  const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].code, "vit.py:37-38");
  EXPECT_EQ(layers[0].package, "vision");
  EXPECT_EQ(layers[0].calls, std::vector<std::string>{"vit.py:49"});
  EXPECT_TRUE(layers[0].in_loop);
}

TEST(Layers, OfTheProgramComeBeforeThoseOfAPackage) {
  const Recording recording = built_from("model.py", "site-packages/vision/vit.py").recording();
  const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].code, "model.py:37-38");
  EXPECT_EQ(layers[0].package, "");
}

TEST(Layers, OfPyTorchAreFoundWhereNobodyElseHasAny) {
  const std::string torch = "site-packages/torch/nn/modules/transformer.py";
  const Recording recording = built_from(torch, torch).recording();
  const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].code, "transformer.py:37-38");
  EXPECT_EQ(layers[0].package, "torch");
}

TEST(Layers, ModuleLevelsAndWhatRunsAnOptimizerAreNone) {
  for (const std::string caller : {"train.py:5 <module>", "train.py:5 train"}) {
    ProgramWriter program = tower(caller);
    program.at({"site-packages/torch/optim/sgd.py:80 step", "train.py:7 train"}).ask(7).free(7);
    const Recording recording = program.recording();
    for (const LayerCode& layer : layers_of(recording, recording.traces.front())) {
      EXPECT_FALSE(layer.code.starts_with("train.py")) << layer.code;
    }
  }
}

TEST(Layers, WhatMakesAModelIsNone) {
  ProgramWriter program;
  for (const Bytes size : {8, 9}) program.at({"models.py:3 __init__", "train.py:1 main"}).ask(size);
  const Recording recording = program.recording();
  EXPECT_TRUE(layers_of(recording, recording.traces.front()).empty());
}

TEST(Layers, WithoutStacksThereAreNone) {
  ProgramWriter program;
  program.ask(8).ask(9).free(8).free(9);
  const Recording recording = program.recording();
  EXPECT_TRUE(layers_of(recording, recording.traces.front()).empty());
}

}  // namespace
}  // namespace memreplay
