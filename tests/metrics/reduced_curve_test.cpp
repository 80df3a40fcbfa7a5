#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "metrics/run_picture.hpp"

namespace memreplay {
namespace {

using Points = std::vector<CurvePoint>;

struct Step {
  std::uint64_t event = 0;
  std::int64_t value = 0;
  std::int64_t highest_within = 0;
};

Points reduced(std::uint64_t events, std::size_t most_points, const std::vector<Step>& steps) {
  ReducedCurve curve(events, most_points);
  for (const Step& step : steps) curve.add(step.event, step.value, step.highest_within);
  return curve.points();
}

// Every change of the curve, as one would draw it.
Points changes_of(const std::vector<Step>& steps) {
  Points changes;
  for (const Step& step : steps) {
    for (const std::int64_t value : {std::max(step.highest_within, step.value), step.value}) {
      if (!changes.empty() && value == changes.back().value) continue;
      if (value != step.value && !changes.empty() && value < changes.back().value) continue;
      changes.push_back({step.event, value});
    }
  }
  return changes;
}

// A reduced curve from the description alone, with all of the curve at hand.
Points slowly_reduced(std::uint64_t events, std::size_t most_points,
                      const std::vector<Step>& steps) {
  const std::uint64_t buckets = std::min<std::uint64_t>(events, most_points / 4);
  std::map<std::uint64_t, Points> by_bucket;
  for (const CurvePoint& change : changes_of(steps)) {
    by_bucket[change.event * buckets / events].push_back(change);
  }
  Points kept;
  for (const auto& [bucket, changes] : by_bucket) {
    const auto value = [](const CurvePoint& point) { return point.value; };
    const auto lowest = std::ranges::min_element(changes, {}, value);
    const auto highest = std::ranges::max_element(changes, {}, value);
    for (auto at = changes.begin(); at != changes.end(); ++at) {
      if (at == changes.begin() || at == lowest || at == highest || at + 1 == changes.end()) {
        kept.push_back(*at);
      }
    }
  }
  return kept;
}

std::vector<Step> random_steps(std::mt19937_64& random, std::uint64_t events) {
  std::vector<Step> steps;
  std::int64_t value = 0;
  for (std::uint64_t event = 0; event < events; ++event) {
    if (random() % 5 == 0) continue;
    if (random() % 3 != 0) value = static_cast<std::int64_t>(random() % 40) - 10;
    const auto above = random() % 4 == 0 ? static_cast<std::int64_t>(random() % 30) : 0;
    steps.push_back({event, value, value + above});
  }
  return steps;
}

TEST(ReducedCurve, OfACurveWithFewChangesOnlyTheyAreKept) {
  const Points points = reduced(1000, 400, {{0, 5, 5}, {10, 5, 5}, {500, 7, 7}, {999, 7, 7}});
  EXPECT_EQ(points, (Points{{0, 5}, {500, 7}}));
}

TEST(ReducedCurve, ABucketKeepsItsFirstLowestHighestAndLastChange) {
  const Points points =
      reduced(8, 4, {{0, 3, 3}, {1, 4, 4}, {2, 9, 9}, {3, 8, 8}, {4, 1, 1}, {5, 2, 2}, {6, 6, 6}});
  EXPECT_EQ(points, (Points{{0, 3}, {2, 9}, {4, 1}, {6, 6}}));
}

TEST(ReducedCurve, APeakInsideAnEventComesBeforeTheValueAfterIt) {
  EXPECT_EQ(reduced(4, 16, {{0, 3, 3}, {1, 4, 12}, {2, 4, 4}}), (Points{{0, 3}, {1, 12}, {1, 4}}));
}

TEST(ReducedCurve, AFallFromTheValueBeforeIsNoPeakInsideTheEvent) {
  EXPECT_EQ(reduced(4, 16, {{0, 9, 9}, {1, 4, 9}}), (Points{{0, 9}, {1, 4}}));
}

TEST(ReducedCurve, TheOtherCurveIsKnownAtEveryPoint) {
  ReducedCurve curve(4, 16);
  curve.add(0, 3, 3, 1);
  curve.add(2, 5, 5, 2);
  EXPECT_EQ(curve.points(), (Points{{0, 3, 1}, {2, 5, 2}}));
}

TEST(ReducedCurve, WithoutEventsThereAreNoPoints) {
  EXPECT_TRUE(ReducedCurve(0, 4).points().empty());
}

TEST(ReducedCurve, EventNumbersNearTheLastOneDoNotOverflow) {
  constexpr std::uint64_t kEvents = UINT64_MAX;
  EXPECT_EQ(reduced(kEvents, 1000, {{0, 1, 1}, {kEvents / 2, 2, 2}, {kEvents - 1, 3, 3}}),
            (Points{{0, 1}, {kEvents / 2, 2}, {kEvents - 1, 3}}));
}

TEST(ReducedCurve, RandomCurvesAreReducedAsASlowModelReducesThem) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint64_t events = 1 + random() % 300;
    const std::size_t most = 4 + random() % 200;
    const std::vector<Step> steps = random_steps(random, events);
    const Points points = reduced(events, most, steps);
    ASSERT_EQ(points, slowly_reduced(events, most, steps)) << "round " << round;
    ASSERT_LE(points.size(), most);
  }
}

TEST(ReducedCurve, ThePeakAndItsPlaceAreAlwaysKept) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t events = 2 + random() % 500;
    std::vector<Step> steps = random_steps(random, events);
    steps.push_back({events - 1, 0, 0});
    const auto value = [](const CurvePoint& point) { return point.value; };
    const Points points = reduced(events, 4, steps);
    const Points changes = changes_of(steps);
    ASSERT_EQ(*std::ranges::max_element(points, {}, value),
              *std::ranges::max_element(changes, {}, value));
  }
}

}  // namespace
}  // namespace memreplay
