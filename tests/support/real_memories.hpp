#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "device/cuda/cuda_memory.hpp"
#include "device/host/host_memory.hpp"
#include "device/real/real_memory.hpp"
#ifdef MEMREPLAY_STAND_IN_DRIVER
#include "support/stand_in_driver/controls.hpp"
#endif

namespace memreplay {

#ifdef MEMREPLAY_STAND_IN_DRIVER
inline const StandInControls& stand_in() {
  static const StandInControls controls(MEMREPLAY_STAND_IN_DRIVER);
  return controls;
}

/// Opened on the stand-in for the driver, which must have nothing to complain of in the end.
class StandInTest : public testing::Test {
 protected:
  void SetUp() override { stand_in().reset(); }

  void TearDown() override {
    memory.reset();
    EXPECT_EQ(stand_in().leaks(), 0u) << stand_in().leaks_text();
    EXPECT_EQ(stand_in().misuse(), 0u) << stand_in().misuse_text();
    stand_in().reset();
  }

  RealMemory& open() {
    memory = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
    return *memory;
  }

  std::unique_ptr<RealMemory> memory;
};
#endif

/// What a test can have without a GPU. Both lie in this process and can be read and written.
enum class MemoryKind { host, stand_in };

inline std::vector<MemoryKind> memory_kinds() {
#ifdef MEMREPLAY_STAND_IN_DRIVER
  return {MemoryKind::host, MemoryKind::stand_in};
#else
  return {MemoryKind::host};
#endif
}

inline void PrintTo(MemoryKind kind, std::ostream* out) {
  *out << (kind == MemoryKind::host ? "host" : "stand_in");
}

/// Over real memory that must be whole again when it is closed.
class RealMemoryTest : public testing::TestWithParam<MemoryKind> {
 protected:
  void SetUp() override {
#ifdef MEMREPLAY_STAND_IN_DRIVER
    if (GetParam() == MemoryKind::stand_in) {
      stand_in().reset();
      memory = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
    }
#endif
    if (!memory) memory = open_host_memory();
    granule = memory->facts().granularity;
  }

  void TearDown() override {
    memory.reset();
#ifdef MEMREPLAY_STAND_IN_DRIVER
    if (GetParam() != MemoryKind::stand_in) return;
    EXPECT_EQ(stand_in().leaks(), 0u) << stand_in().leaks_text();
    EXPECT_EQ(stand_in().misuse(), 0u) << stand_in().misuse_text();
    stand_in().reset();
#endif
  }

  std::unique_ptr<RealMemory> memory;
  Bytes granule = 0;
};

#define MEMREPLAY_ON_REAL_MEMORY(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(On, suite, testing::ValuesIn(memory_kinds()), [](const auto& tested) { \
    return std::string(tested.param == MemoryKind::host ? "the_host" : "the_stand_in");           \
  })

/// What `action` says when it throws; empty when it does not.
template <class Error, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace memreplay
