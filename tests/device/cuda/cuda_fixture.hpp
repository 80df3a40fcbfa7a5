#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "device/cuda/cuda_memory.hpp"
#include "support/real_memories.hpp"

namespace memreplay {

enum class Driver { stand_in, real };

inline void PrintTo(Driver driver, std::ostream* out) {
  *out << (driver == Driver::real ? "libcuda.so.1" : "the stand-in");
}

/// What must hold on the stand-in and on a GPU alike.
class DriverTest : public testing::TestWithParam<Driver> {
 protected:
  void SetUp() override {
    const bool real = GetParam() == Driver::real;
    if (!real) stand_in().reset();
    try {
      memory = open_cuda_memory(0, real ? "libcuda.so.1" : MEMREPLAY_STAND_IN_DRIVER);
    } catch (const DeviceError& error) {
      if (!real) throw;
      GTEST_SKIP() << error.what();
    }
  }

  void TearDown() override {
    memory.reset();
    if (GetParam() == Driver::real) return;
    EXPECT_EQ(stand_in().leaks(), 0u) << stand_in().leaks_text();
    EXPECT_EQ(stand_in().misuse(), 0u) << stand_in().misuse_text();
    stand_in().reset();
  }

  std::unique_ptr<RealMemory> memory;
};

// The build gives those of Gpu a label of their own.
#define MEMREPLAY_ON_BOTH_DRIVERS(suite)                                                \
  INSTANTIATE_TEST_SUITE_P(StandIn, suite, testing::Values(Driver::stand_in),           \
                           [](const auto&) { return std::string("on_the_stand_in"); }); \
  INSTANTIATE_TEST_SUITE_P(Gpu, suite, testing::Values(Driver::real),                   \
                           [](const auto&) { return std::string("on_the_driver"); })

}  // namespace memreplay
