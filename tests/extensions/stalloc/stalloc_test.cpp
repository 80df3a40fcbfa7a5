#include <gtest/gtest.h>

#include <random>

#include "core/error.hpp"
#include "extensions/planner/planned_region.hpp"
#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

/// The smallest run of free bytes that holds the request, of equal ones the lowest.
std::optional<Bytes> best_fit_byte_by_byte(const std::vector<bool>& free, const Request& request) {
  std::optional<Bytes> best;
  Bytes smallest = free.size() + 1;
  for (Bytes from = 0; from < free.size(); ++from) {
    if (!free[from] || (from != 0 && free[from - 1])) continue;
    Bytes to = from;
    while (to < free.size() && free[to]) ++to;
    const Bytes at = round_up(from, request.alignment);
    if (at + request.size > to || to - from >= smallest) continue;
    smallest = to - from;
    best = at;
  }
  return best;
}

/// Blocks of 2 and 3 units, over and over, after one of 1 that stays.
std::shared_ptr<const Plan> periodic() {
  Plan plan;
  plan.entries = {{1, 5, true}, {2, 0, true}, {3, 2, true}};
  plan.height = 6;
  plan.repeats_from = 1;
  plan.iterations = {1};
  plan.clairvoyant = false;
  return std::make_shared<const Plan>(std::move(plan));
}

MemoryPicture picture(std::shared_ptr<const Plan> plan = periodic()) {
  return MemoryPicture("stalloc(direct):align=1", std::nullopt, 1, std::move(plan));
}

TEST(Stalloc, AfterTheLastPlannedRequestComesTheFirstOfTheIterationAgain) {
  auto m = picture();
  m.alloc('W', 1).alloc('A', 2).alloc('B', 3).free('A').free('B').alloc('C', 2);
  EXPECT_EQ(m.picture(), "CC...W");
  m.alloc('D', 3);
  EXPECT_EQ(m.picture(), "CCDDDW");
  EXPECT_EQ(m.counter("mismatches"), 0);
}

TEST(Stalloc, AnotherSizeIsAMismatchForTheFallback) {
  auto m = picture();
  m.alloc('W', 1).alloc('A', 1).alloc('B', 3);
  EXPECT_EQ(m.picture(), "..BBBW|A");
  EXPECT_EQ(m.counter("mismatches"), 1);
  EXPECT_EQ(m.counter("fallback_served_bytes"), 1);
}

TEST(Stalloc, APlaceThatIsStillTakenIsAMismatchToo) {
  auto m = picture();
  m.alloc('W', 1).alloc('A', 2).alloc('B', 3).alloc('C', 2);
  EXPECT_EQ(m.picture(), "AABBBW|CC");
}

TEST(Stalloc, AMarkerBeginsTheIterationAnew) {
  auto m = picture();
  m.alloc('W', 1).marker().alloc('A', 2).free('A').marker().alloc('B', 2).alloc('C', 3);
  EXPECT_EQ(m.picture(), "BBCCCW");
}

TEST(Stalloc, TheSmallestHaveAnAreaOfTwiceTheirPeak) {
  Plan plan = *periodic();
  plan.above = 512;
  plan.small_peak = 1;
  MemoryPicture m("stalloc(direct)", std::nullopt, 512, std::make_shared<const Plan>(plan));
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AB|C");
  m.free('A').alloc('D', 1, 4096);
  EXPECT_EQ(m.picture(), ".B|C|....D...");
  EXPECT_EQ(m.counter("var_served"), 2);
}

TEST(Stalloc, WithAnEmptyPlanItIsTheFallback) {
  SimulatedDevice device, plain_device;
  const auto tested = make_strategy(parse_strategy("stalloc"), {.device = device});
  const auto plain = make_strategy(parse_strategy("torch"), {.device = plain_device});
  std::vector<std::pair<Handle, Handle>> live;
  std::mt19937_64 random(1);
  for (int step = 0; step < 5000; ++step) {
    if (live.size() > 50 || (!live.empty() && random() % 2)) {
      tested->free(live.back().first, {});
      plain->free(live.back().second, {});
      live.pop_back();
      continue;
    }
    const Request request{.size = 1 + random() % kMiB};
    const auto got = tested->allocate(request);
    const auto expected = plain->allocate(request);
    ASSERT_EQ(got->address, expected->address);
    live.emplace_back(got->handle, expected->handle);
  }
  EXPECT_EQ(device.usage().peak_held, plain_device.usage().peak_held);
}

TEST(Stalloc, WhoShufflesTheRequestsGetsMismatchesButNoOverlaps) {
  std::mt19937_64 random(2);
  Plan plan;
  for (Bytes i = 0; i < 20; ++i) plan.entries.push_back({1 + random() % 4, 4 * i, true});
  plan.height = 80;
  plan.iterations = {0};
  auto m = picture(std::make_shared<const Plan>(plan));
  for (int round = 0; round < 200; ++round) {
    for (char name = 'a'; name < 'u'; ++name) {
      if (random() % 2) m.free(name);
    }
    m.marker();
    for (char name = 'a'; name < 'u'; ++name) {
      m.free(name).alloc(name, plan.entries[random() % 20].size);
    }
  }
  EXPECT_EQ(m.ooms(), 0);
  EXPECT_GT(m.counter("mismatches"), 100);
}

/// What is periodic, and between its requests a region in which [2, 5) is free.
std::shared_ptr<const Plan> with_dynamic_region() {
  Plan plan = *periodic();
  plan.marks = {PlanMark::iteration, PlanMark::other, PlanMark::region_begins,
                PlanMark::region_ends};
  plan.regions = {{{2, 5}}};
  plan.regions_from = {0};
  return std::make_shared<const Plan>(std::move(plan));
}

TEST(Stalloc, InADynamicRegionRequestsGoWhereThePlanIsFree) {
  auto m = picture(with_dynamic_region());
  m.alloc('W', 1).marker().marker().alloc('A', 2).marker().alloc('X', 1).alloc('Y', 1);
  EXPECT_EQ(m.picture(), "AAXY.W");
  m.free('X').alloc('Z', 2);
  EXPECT_EQ(m.picture(), "AA.Y.W|ZZ");
  m.free('Y').free('Z').marker().alloc('B', 3);
  EXPECT_EQ(m.picture(), "AABBBW");
  EXPECT_EQ(m.counter("mismatches"), 0);
  EXPECT_EQ(m.counter("dynamic_served"), 2);
  EXPECT_EQ(m.counter("fallback_served"), 1);
}

TEST(Stalloc, WhatOutlivesItsRegionKeepsThePlaceAndThePlannedOneMismatches) {
  auto m = picture(with_dynamic_region());
  m.alloc('W', 1).marker().marker().alloc('A', 2).marker().alloc('X', 1).marker().alloc('B', 3);
  EXPECT_EQ(m.picture(), "AAX..W|BBB");
  EXPECT_EQ(m.counter("mismatches"), 1);
}

TEST(Stalloc, ARegionThatNoPlannedIterationHadIsTheFallbacks) {
  Plan plan = *with_dynamic_region();
  plan.marks.push_back(PlanMark::region_begins);
  auto m = picture(std::make_shared<const Plan>(std::move(plan)));
  m.alloc('W', 1).marker().marker().marker().marker().marker().alloc('X', 1);
  EXPECT_EQ(m.picture(), ".....W|X");
}

TEST(PlannedRegion, ADynamicBlockLiesWhereAModelByteByByteFindsTheBestFit) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    Plan plan;
    plan.marks = {PlanMark::region_begins};
    plan.regions = {{}};
    std::vector<bool> free;
    while (free.size() < 60) {
      const Bytes from = free.size() + random() % 5;
      const Bytes to = from + 1 + random() % 20;
      free.resize(from, false);
      free.resize(to, true);
      free.push_back(false);
      plan.regions.front().push_back({from, to});
    }
    plan.height = free.size();
    plan.base_alignment = 8;
    SimulatedDevice device;
    PlannedRegion region(std::make_shared<const Plan>(plan));
    region.marker();
    std::vector<PlacedBlock> live;
    for (int step = 0; step < 60; ++step) {
      if (!live.empty() && random() % 3 == 0) {
        std::swap(live[random() % live.size()], live.back());
        const Bytes at = live.back().address - region.region()->aligned;
        std::fill_n(free.begin() + static_cast<std::ptrdiff_t>(at), live.back().size, true);
        region.release(live.back());
        live.pop_back();
        continue;
      }
      const Request request{.size = 1 + random() % 9, .alignment = Bytes{1} << random() % 4};
      const auto expected = best_fit_byte_by_byte(free, request);
      const auto block = region.take(request, device);
      ASSERT_EQ(block.has_value(), expected.has_value());
      if (!block) continue;
      ASSERT_EQ(block->address - region.region()->aligned, *expected);
      std::fill_n(free.begin() + static_cast<std::ptrdiff_t>(*expected), request.size, false);
      live.push_back(*block);
    }
  }
}

TEST(Stalloc, WrongPartsAreRefused) {
  for (const char* spec : {"stalloc(torch,torch)", "stalloc(plan)", "stalloc(offload(torch))",
                           "stalloc:train=0", "stalloc:algorithm=groups"}) {
    EXPECT_THROW(MemoryPicture{spec}, UsageError) << spec;
  }
}

}  // namespace
}  // namespace memreplay
