#include "analysis/fit/cards.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/recordings.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(Cards, TheSmallestComesFirst) {
  EXPECT_TRUE(std::ranges::is_sorted(cards(), {}, &Card::total));
}

TEST(Cards, ANameIsFoundHoweverItIsWritten) {
  EXPECT_EQ(card_named("rtx 4090").name, "RTX-4090");
  EXPECT_EQ(card_named("a100-80gb").total, card_named("A100-80GB").total);
}

TEST(Cards, AnUnknownNameIsRefusedWithTheNearest) {
  try {
    card_named("RTX-4091");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'RTX-4090'?"), std::string::npos);
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
