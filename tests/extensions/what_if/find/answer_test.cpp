#include "extensions/what_if/find/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/control.hpp"

namespace memreplay {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;

struct Search {
  std::vector<std::int64_t> values = {2, 4};  ///< values given for the two recordings
  std::optional<Bytes> capacity = 64 * kMiB;
  std::vector<ChosenCard> cards = {};  ///< instead of the capacity
  std::optional<Bytes> reserve = {};
};

FindAnswer found_by(const Search& search, const Control& control = {}) {
  const std::string folder = MEMREPLAY_TRACES "/torch/";
  const Inputs inputs({.paths = {folder + "batch_2.pickle.gz", folder + "batch_4.pickle.gz"}});
  FindQuestion question{.strategies = {parse_strategy("torch")},
                        .setup = {},
                        .cards = search.cards,
                        .variation = {.name = "batch", .values = search.values, .at = {}},
                        .edits = {},
                        .gpu = {}};
  if (search.cards.empty()) question.setup.capacity = search.capacity;
  question.setup.reserve = search.reserve;
  return answer(inputs, question, control);
}

TEST(FindAnswer, TheNextValueDoesNotFit) {
  const FindAnswer answered = found_by({});
  const FoundValue& found = answered.found.at(0);
  ASSERT_TRUE(found.largest);
  EXPECT_FALSE(found.interrupted);
  const auto tried = [](std::int64_t value, bool fits) {
    return Contains(AllOf(Field(&ValueTried::value, value), Field(&ValueTried::fits, fits)));
  };
  EXPECT_THAT(found.tried, tried(*found.largest, true));
  EXPECT_THAT(found.tried, tried(*found.largest + 1, false));
  EXPECT_TRUE(answered.all_fit());
}

TEST(FindAnswer, WhereNotEvenOneFitsThereIsNone) {
  const FindAnswer answered = found_by({.capacity = kMiB});
  EXPECT_FALSE(answered.found.at(0).largest);
  EXPECT_THAT(answered.found[0].tried, Each(Field(&ValueTried::fits, false)));
  EXPECT_FALSE(answered.all_fit());
}

TEST(FindAnswer, ALargeRecordedValueThatFitsIsEnough) {
  const FindAnswer answered = found_by({.values = {100'000'000, 200'000'000}, .capacity = kGiB});
  EXPECT_EQ(answered.found.at(0).largest, 200'000'000);
  EXPECT_TRUE(answered.found[0].unbounded);
}

TEST(FindAnswer, WhatIsSetAsideOnACardGivesBounds) {
  const ChosenCard card{.as_given = "small", .card = {"small", kGiB, 75, 40}, .others = {}};
  const FindAnswer answered = found_by({.cards = {card}});
  const FoundValue& found = answered.found.at(0);
  ASSERT_TRUE(answered.set_aside);
  EXPECT_EQ(found.device.set_aside->context, kContext);
  EXPECT_EQ(found.device.reserve, answered.set_aside->bytes());
  ASSERT_TRUE(found.largest && found.usually && found.may_fit);
  EXPECT_LT(*found.largest, *found.usually);
  EXPECT_LT(*found.usually, *found.may_fit);
  // As on a device of just what is left.
  const auto on = [](Bytes usable) { return found_by({.capacity = usable}).found.at(0).largest; };
  EXPECT_EQ(on(kGiB - answered.set_aside->bytes()), found.usually);
  EXPECT_LE(*on(kGiB - answered.set_aside->most), *found.usually);
}

TEST(FindAnswer, WithAReserveACardIsADevice) {
  const ChosenCard card{.as_given = "small", .card = {"small", kGiB, 75, 40}, .others = {}};
  const FindAnswer answered = found_by({.cards = {card}, .reserve = 960 * kMiB});
  EXPECT_EQ(answered.found.at(0).largest, found_by({}).found.at(0).largest);
  EXPECT_FALSE(answered.found[0].may_fit);
  EXPECT_FALSE(answered.found[0].usually);
  EXPECT_EQ(answered.set_aside->others, 960 * kMiB);
}

// Whenever it ends: what stands there is true of the whole search.
TEST(FindAnswer, AnInterruptedSearchSaysWhatItHasTried) {
  const FindAnswer whole = found_by({});
  const auto of_whole = [&](const ValueTried& tried) {
    const auto& all = whole.found.at(0).tried;
    const auto same = std::ranges::find(all, tried.value, &ValueTried::value);
    return same != all.end() && same->fits == tried.fits &&
           same->peak_reserved == tried.peak_reserved;
  };
  for (int after = 1; after < 6; ++after) {
    std::atomic<bool> stop = false;
    int shown = 0;
    const Control control{.stop = &stop, .progress = [&](const std::string&, double share) {
                            if (share == 0 && ++shown == after) stop = true;
                          }};
    const FindAnswer answered = found_by({}, control);
    EXPECT_TRUE(answered.interrupted);
    const FoundValue& found = answered.found.at(0);
    EXPECT_TRUE(found.interrupted);
    EXPECT_TRUE(std::ranges::all_of(found.tried, of_whole));
    std::int64_t largest = 0;
    for (const ValueTried& tried : found.tried) largest = tried.fits ? tried.value : largest;
    EXPECT_EQ(found.largest.value_or(0), largest);
  }
}

}  // namespace
}  // namespace memreplay
