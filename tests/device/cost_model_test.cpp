#include "device/cost_model.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(CostModel, EachCallCostsItsTimeAndARefusalNothing) {
  const DeviceUsage usage{.allocs = 3, .frees = 5, .maps = 2, .unmaps = 10, .refusals = 7};
  EXPECT_DOUBLE_EQ(modelled_seconds({}, usage), 0.017);
  const CostModel cost{.alloc_ms = 1000, .free_ms = 0, .map_ms = 0, .unmap_ms = 0};
  EXPECT_DOUBLE_EQ(modelled_seconds(cost, usage), 3.0);
}

}  // namespace
}  // namespace memreplay
