#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "support/driver_device.hpp"

namespace memreplay {
namespace {

using Kind = DriverAllocatorOptions::Kind;

TEST(CudaDirect, EveryBlockIsTheDrivers) {
  DriverDevice device({Kind::direct, Kind::stream_ordered});
  const auto strategy = make_strategy(parse_strategy("cuda-direct"), {.device = device});
  ASSERT_EQ(device.opened.size(), 1u);
  EXPECT_EQ(device.opened[0].kind, Kind::direct);
  ASSERT_TRUE(strategy->allocate({.size = 1000}));
  EXPECT_EQ(device.calls.size(), 1u);
}

TEST(CudaDirect, TheHostHasNoGpu) {
  DriverDevice device({Kind::malloc});
  try {
    make_strategy(parse_strategy("cuda-direct"), {.device = device});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "strategy 'cuda-direct' needs a GPU: --device cuda");
  }
}

}  // namespace
}  // namespace memreplay
