#include "analysis/suggest/layers.hpp"

#include <gtest/gtest.h>

#include "analysis/edit/programs.hpp"

namespace memreplay {
namespace {

TEST(Layers, CodeThatRunsSeveralTimesInAForwardPassIsALayer) {
  const Recording recording = two_layers().recording();
  const std::vector<LayerCode> layers = layers_of(recording, recording.traces.front());
  ASSERT_EQ(layers.size(), 1u);
  EXPECT_EQ(layers[0].selector, "code=models.py:11-13");
  EXPECT_EQ(layers[0].instances, 2u);
  EXPECT_EQ(layers[0].begins, 1u);
  EXPECT_EQ(layers[0].saved, 11u + 12 + 13 + 21 + 22 + 23);
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
