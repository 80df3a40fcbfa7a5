#include "device/host/malloc_library.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "device/host/host_memory.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
/// What a library allocates when it is loaded it never frees.
using LoadingMayLeak = __lsan::ScopedDisabler;
/// Freed blocks stay resident for a while, to be watched.
constexpr bool kFreesLate = true;
#else
struct LoadingMayLeak {};
constexpr bool kFreesLate = false;
#endif

namespace memreplay {
namespace {

constexpr Bytes kNoise = 4 * kMiB;

/// One that the machine may not have.
class Library : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      [[maybe_unused]] const LoadingMayLeak loading;
      check_malloc_library(GetParam());
    } catch (const UsageError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<DriverBlocks> open() { return open_malloc_library(GetParam(), room_, resident_); }

  Room room_{kGiB};
  ResidentMemory resident_;
  HostExecution execution_;
};

TEST_P(Library, BlocksAreAsLargeAsAskedForAndAligned) {
  const auto blocks = open();
  for (const Bytes size : {1, 2, 3, 8, 24, 100, 5000, 300'000, 5'000'000}) {
    for (const Bytes alignment : {0, 1, 2, 4, 8, 16, 32, 256, 4096, 2 * 1024 * 1024}) {
      const auto block = blocks->allocate(size, alignment, 0);
      ASSERT_TRUE(block) << size << " at " << alignment;
      EXPECT_GE(block->size, size);
      if (alignment != 0) {
        EXPECT_EQ(block->address % alignment, 0u) << size;
      }
      execution_.fill(0, {block->address, size}, 1, Touch::all);
      blocks->free(block->address, 0);
    }
  }
}

TEST_P(Library, LiveBlocksKeepWhatIsWritten) {
  const auto blocks = open();
  std::vector<DriverBlock> live;
  for (Bytes n = 0; n < 2000; ++n) {
    live.push_back(*blocks->allocate(1 + n * 37 % 9000, 0, 0));
    execution_.fill(0, {live[n].address, live[n].size}, n, Touch::all);
    if (n % 3 != 0) continue;
    blocks->free(live[n / 3].address, 0);
    live[n / 3].size = 0;
  }
  for (Bytes n = 0; n < live.size(); ++n) {
    execution_.check(0, {live[n].address, live[n].size}, n, Touch::all);
  }
  EXPECT_TRUE(execution_.mismatches().empty());
}

TEST_P(Library, KeepsLittleThatTheNextReplayWouldNotSee) {
  constexpr Bytes kSize = 32 * kMiB;
  for (int replay = 0; replay < 2; ++replay) {
    const auto blocks = open();
    for (Bytes n = 0; n < 512; ++n) {
      const auto block = blocks->allocate(kSize / 512, 0, 0);
      execution_.fill(0, {block->address, kSize / 512}, n, Touch::edges);
    }
    if (!kFreesLate) {
      EXPECT_GE(blocks->held() + kSize / 4, kSize) << replay;
    }
  }
}

TEST_P(Library, WhatItHoldsIsWhatIsResident) {
  constexpr Bytes kSize = 32 * kMiB;
  const auto blocks = open();
  const auto block = blocks->allocate(kSize, 0, 0);
  execution_.fill(0, {block->address, kSize}, 1, Touch::edges);
  EXPECT_GE(blocks->held() + kNoise, kSize);
  EXPECT_LT(blocks->held(), kSize + kNoise);
  blocks->free(block->address, 0);
  blocks->trim();
  if (!kFreesLate) {
    EXPECT_LT(blocks->held(), kNoise);
  }
  EXPECT_GE(blocks->peak_held() + kNoise, kSize);
}

TEST_P(Library, MoreThanThereIsRoomForIsRefused) {
  const auto blocks = open();
  EXPECT_FALSE(blocks->allocate(UINT64_MAX, 0, 0));
  EXPECT_FALSE(blocks->allocate(2 * kGiB, 0, 0));
  const auto most = blocks->allocate(kGiB / 4 * 3, 0, 0);
  ASSERT_TRUE(most);
  EXPECT_FALSE(blocks->allocate(kGiB / 2, 0, 0));
  blocks->free(most->address, 0);
  const auto half = blocks->allocate(kGiB / 2, 0, 0);
  ASSERT_TRUE(half);
  blocks->free(half->address, 0);
  EXPECT_EQ(room_.left(), kGiB);
}

TEST_P(Library, BlocksLeftOverAreFreedAtTheEnd) {
  {
    const auto blocks = open();
    for (int n = 0; n < 100; ++n) ASSERT_TRUE(blocks->allocate(1000, 0, 0));
    EXPECT_LE(room_.left(), kGiB - 100'000);
  }
  EXPECT_EQ(room_.left(), kGiB);
}

TEST_P(Library, ABlockThatIsNotThereIsMisuse) {
  const auto blocks = open();
  const auto block = blocks->allocate(100, 0, 0);
  EXPECT_THROW(blocks->free(block->address + 1, 0), std::logic_error);
  blocks->free(block->address, 0);
  EXPECT_THROW(blocks->free(block->address, 0), std::logic_error);
}

/// The last wants room for its thread-local memory; a second round of these tests has it.
INSTANTIATE_TEST_SUITE_P(Malloc, Library,
                         testing::Values("", "libtcmalloc_minimal.so.4", "libmimalloc.so.2",
                                         "libjemalloc.so.2"),
                         [](const auto& tested) {
                           const std::string name = tested.param;
                           if (name.empty()) return std::string("process");
                           return name.substr(0, name.find_first_of("_."));
                         });

std::string complaint(const std::string& library) {
  try {
    check_malloc_library(library);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(MallocLibrary, OneThatIsNotThereIsNamed) {
  const std::string said = complaint("libnotthere.so.7");
  EXPECT_NE(said.find("malloc library 'libnotthere.so.7' cannot be loaded: libnotthere.so.7: "),
            said.npos)
      << said;
}

TEST(MallocLibrary, TheMallocOfALibraryThatItNeedsIsNotItsOwn) {
  EXPECT_EQ(complaint("libm.so.6"), "malloc library 'libm.so.6' has no malloc and free of its own");
  EXPECT_EQ(complaint("libc.so.6"), "none");
}

TEST(MallocLibrary, WithoutRoomForThreadLocalMemoryTheErrorSaysHow) {
  try {
    check_malloc_library("libjemalloc.so.2");
    GTEST_SKIP() << "it can be loaded here";
  } catch (const StaticTlsError& error) {
    EXPECT_NE(std::string(error.what()).find(kStaticTlsTunable), std::string::npos);
  } catch (const UsageError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace memreplay
