#include "analysis/find/answer.hpp"

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
  Bytes capacity = 64 * kMiB;
};

FindAnswer found_by(const Search& search, const Control& control = {}) {
  const std::string folder = MEMREPLAY_TRACES "/torch/";
  const Inputs inputs({.paths = {folder + "batch_2.pickle.gz", folder + "batch_4.pickle.gz"}});
  FindQuestion question{.strategies = {parse_strategy("torch")},
                        .setup = {},
                        .cards = {},
                        .variation = {.name = "batch", .values = search.values, .at = {}},
                        .edits = {},
                        .gpu = {}};
  question.setup.device.capacity = search.capacity;
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
