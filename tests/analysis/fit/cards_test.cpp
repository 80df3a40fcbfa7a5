#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/fit/fit.hpp"
#include "analysis/recordings.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(Cards, TheSmallestComesFirst) {
  EXPECT_TRUE(std::ranges::is_sorted(cards(), {}, &Card::total));
}

TEST(Cards, ANameIsFoundHoweverItIsWritten) {
  EXPECT_EQ(card_named("rtx 4090").card.name, "RTX-4090");
  EXPECT_EQ(card_named("a100-80gb").card.name, "A100-80GB");
  EXPECT_EQ(card_named("NVIDIA H100 80GB HBM3").card.name, "H100-80GB");
  EXPECT_EQ(card_named("Tesla V100-SXM2-32GB").card.name, "V100-32GB");
  EXPECT_EQ(card_named("NVIDIA GeForce RTX 3090").card.name, "RTX-3090");
}

TEST(Cards, APartOfANameWillDo) {
  EXPECT_EQ(card_named("4090").card.name, "RTX-4090");
  EXPECT_EQ(card_named("h100").card.name, "H100-80GB");
  EXPECT_EQ(card_named("h100 80").card.name, "H100-80GB");
  EXPECT_EQ(card_named("l40").card.name, "L40S");
  EXPECT_TRUE(card_named("h100").others.empty());
}

TEST(Cards, AWholeNameIsNoPartOfAnother) {
  EXPECT_EQ(card_named("a10").card.name, "A10");
  EXPECT_TRUE(card_named("a10").others.empty());
  EXPECT_EQ(card_named("L4").card.name, "L4");
  EXPECT_EQ(card_named("h20").card.name, "H20");
}

TEST(Cards, OfSeveralTheMostUsualIsTakenAndTheOthersAreNamed) {
  EXPECT_EQ(card_named("a100").card.name, "A100-80GB");
  EXPECT_EQ(card_named("a100").others, (std::vector<std::string_view>{"A100-40GB"}));
  EXPECT_EQ(card_named("V100").card.name, "V100-16GB");
}

TEST(Cards, EveryNameFindsItsCard) {
  for (const Card& card : cards()) {
    const ChosenCard chosen = card_named(std::string(card.name));
    EXPECT_EQ(chosen.card.name, card.name);
    EXPECT_TRUE(chosen.others.empty()) << card.name;
  }
}

TEST(Cards, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    card_named("RTX-4091");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'RTX-4090'?"), std::string::npos);
  }
}

TEST(Cards, WhatNoCardIsCalledIsRefused) {
  for (const std::string name : {"", "nvidia", "MI300X", "-"}) {
    EXPECT_THROW(card_named(name), UsageError) << name;
  }
}

TEST(Cards, TheSmallestThatFitComeBesideWhatOthersHold) {
  const Recording recording = RecordingWriter().alloc(0, 11 * kGiB).recording();
  const Subject subject(recording, recording.traces[0]);
  FitOptions options;
  const auto names = [&] {
    std::vector<std::string_view> found;
    for (const Card& card : cards_that_fit(subject, parse_strategy("direct"), options, 0, 2)) {
      found.push_back(card.name);
    }
    return found;
  };
  EXPECT_EQ(names(), (std::vector<std::string_view>{"RTX-3060-12GB", "T4"}));
  options.trial.device.reserve = 2 * kGiB;
  EXPECT_EQ(names(), (std::vector<std::string_view>{"T4", "V100-16GB"}));
}

}  // namespace
}  // namespace memreplay
