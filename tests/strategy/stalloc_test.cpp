#include <gtest/gtest.h>

#include <random>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

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

TEST(Stalloc, WrongPartsAreRefused) {
  for (const char* spec : {"stalloc(torch,torch)", "stalloc(plan)", "stalloc(offload(torch))",
                           "stalloc:train=0", "stalloc:algorithm=group"}) {
    EXPECT_THROW(MemoryPicture{spec}, UsageError) << spec;
  }
}

}  // namespace
}  // namespace memreplay
