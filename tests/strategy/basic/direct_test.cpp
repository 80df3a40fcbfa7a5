#include <gtest/gtest.h>

#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

TEST(Direct, EveryBlockIsARegionThatGoesWithIt) {
  MemoryPicture m("direct");
  m.alloc('A', 2).alloc('B', 3).free('A').alloc('C', 1);
  EXPECT_EQ(m.picture(), "BBB|C");
  EXPECT_EQ(m.device().held, 4u);
  EXPECT_EQ(m.device().allocs, 3u);
  EXPECT_EQ(m.device().frees, 1u);
}

TEST(Direct, MaxInUseIsThePeakOfTheSizesInUse) {
  MemoryPicture m("direct");
  m.alloc('A', 100).alloc('B', 200).free('A').alloc('C', 150).free('B');
  EXPECT_EQ(m.peak_allocated(), 350u);
}

TEST(Direct, AFullDeviceIsAnAnswer) {
  MemoryPicture m("direct", 4);
  m.alloc('A', 3).alloc('B', 2).free('A').alloc('C', 4);
  EXPECT_EQ(m.picture(), "CCCC");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Direct, AnAlignmentBeyondTheDevicesTakesALongerRegion) {
  SimulatedDevice device({.capacity = {}, .granularity = 1});
  const auto strategy = make_strategy(parse_strategy("direct"), {.device = device, .capacity = {}});
  ASSERT_TRUE(strategy->allocate({.size = 1}));
  const auto block = strategy->allocate({.size = 10, .alignment = 64 * kMiB});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->address % (64 * kMiB), 0u);
  EXPECT_EQ(strategy->free_space().total, 64 * kMiB - 1);
  strategy->free(block->handle, {});
  EXPECT_EQ(device.usage().held, 1u);
}

}  // namespace
}  // namespace memreplay
