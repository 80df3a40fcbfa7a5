#include "strategy/torch/allocator.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"

namespace memreplay::torch {
namespace {

// What the allocator decides is in rules_test.cpp.

TEST(TorchAllocator, ACopyGoesOnAsTheOriginalWould) {
  SimulatedDevice device;
  Allocator original(device, {}, kNewestRelease, std::vector<PoolId>(1));
  const Placement kept = *original.allocate({5000, 0, 0, 0});
  original.free(original.allocate({3 * kMiB, 0, 0, 0})->handle);
  const auto device_copy = device.clone();
  const auto copy = original.clone(*device_copy);
  EXPECT_EQ(copy->allocate({kMiB, 0, 0, 0})->address, original.allocate({kMiB, 0, 0, 0})->address);
  copy->free(kept.handle);
  EXPECT_NE(copy->counters(), original.counters());
}

}  // namespace
}  // namespace memreplay::torch
