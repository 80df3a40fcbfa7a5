#include "strategy/parts/driver_blocks.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "core/error.hpp"
#include "support/driver_device.hpp"

namespace memreplay {
namespace {

using Kind = DriverAllocatorOptions::Kind;
using Calls = std::vector<std::string>;

class DriverBlocksStrategy : public testing::Test {
 protected:
  DriverDevice device_{{Kind::direct}, 4096};
  std::unique_ptr<Strategy> strategy_ = make_driver_blocks(device_, {.kind = Kind::direct});
};

TEST_F(DriverBlocksStrategy, ABlockIsWhereTheDriverPutsItAndAsLargeAsItCharges) {
  const auto block = strategy_->allocate({.size = 300, .alignment = 64, .stream = 3});
  ASSERT_TRUE(block);
  EXPECT_EQ(block->size, 512u);
  EXPECT_EQ(device_.usage().held, 512u);
  strategy_->free(block->handle, {});
  EXPECT_EQ(device_.usage().held, 0u);
  EXPECT_EQ(device_.calls, (Calls{"alloc 300 aligned 64 on 3", "free on 3"}));
}

TEST_F(DriverBlocksStrategy, ItIsFreedOnTheStreamThatAskedForItWhoeverGivesItBack) {
  const auto first = strategy_->allocate({.size = 1, .stream = 1});
  const auto second = strategy_->allocate({.size = 2, .stream = 2});
  device_.calls.clear();
  strategy_->free(second->handle, {.stream = 1});
  strategy_->request_free(first->handle);
  EXPECT_EQ(device_.calls, (Calls{"free on 2"}));
  strategy_->complete_free(first->handle);
  EXPECT_EQ(device_.calls, (Calls{"free on 2", "free on 1"}));
}

TEST_F(DriverBlocksStrategy, AFullDriverIsAnAnswer) {
  const auto most = strategy_->allocate({.size = 4000});
  ASSERT_TRUE(most);
  EXPECT_FALSE(strategy_->allocate({.size = 1}));
  strategy_->free(most->handle, {});
  EXPECT_TRUE(strategy_->allocate({.size = 1}));
}

TEST_F(DriverBlocksStrategy, AnEmptiedCacheIsTheDrivers) {
  strategy_->empty_cache();
  EXPECT_EQ(device_.calls, (Calls{"trim"}));
}

TEST_F(DriverBlocksStrategy, EveryBlockIsASegmentAndNothingIsFreeInside) {
  const auto gone = strategy_->allocate({.size = 10});
  const auto kept = strategy_->allocate({.size = 100, .stream = 5});
  strategy_->free(gone->handle, {});
  const MemoryState state = strategy_->memory_state();
  ASSERT_EQ(state.segments.size(), 1u);
  EXPECT_EQ(state.segments[0].address, kept->address);
  EXPECT_EQ(state.segments[0].size, 256u);
  EXPECT_EQ(state.segments[0].stream, 5u);
  ASSERT_EQ(state.segments[0].blocks.size(), 1u);
  EXPECT_EQ(state.segments[0].blocks[0].size, 256u);
  EXPECT_EQ(state.segments[0].blocks[0].requested, 100u);
  EXPECT_EQ(strategy_->free_space().total, 0u);
  EXPECT_TRUE(strategy_->free_ranges().empty());
}

TEST_F(DriverBlocksStrategy, ItCannotBeCopied) {
  EXPECT_THROW(strategy_->clone(device_), std::logic_error);
}

TEST(DriverHas, OnlyWhatTheDriverSays) {
  DriverDevice driver({Kind::malloc});
  EXPECT_TRUE(driver_has({.device = driver}, Kind::malloc));
  EXPECT_FALSE(driver_has({.device = driver}, Kind::direct));
  SimulatedDevice simulated;
  EXPECT_FALSE(driver_has({.device = simulated}, Kind::malloc));
}

TEST(DriverHas, NothingInsideOfAnotherStrategy) {
  DriverDevice device({Kind::malloc, Kind::stream_ordered});
  const StrategyContext context{.device = device, .capacity = kGiB};
  EXPECT_THROW(make_strategy(parse_strategy("rmm-binning(malloc)"), context), UsageError);
  const auto model = make_strategy(parse_strategy("rmm-binning(cuda-async)"), context);
  EXPECT_TRUE(model->allocate({.size = 64 * kMiB}));
  EXPECT_TRUE(device.opened.empty());
  EXPECT_TRUE(device.calls.empty());
}

}  // namespace
}  // namespace memreplay
