#include <gtest/gtest.h>

#include "cuda/cuda_recording.hpp"

namespace memreplay::capture {
namespace {

using Pieces = std::vector<PhysicalMemory::Piece>;

TEST(PhysicalMemory, WithoutMappingsItEndsWithItsHandle) {
  PhysicalMemory memory;
  const auto piece = memory.create(7);
  EXPECT_EQ(memory.release(7), piece);
  EXPECT_FALSE(memory.release(7));
}

TEST(PhysicalMemory, WhatIsMappedEndsWithTheLastMapping) {
  PhysicalMemory memory;
  const auto piece = memory.create(7);
  memory.map(1000, 7);
  memory.map(5000, 7);
  EXPECT_FALSE(memory.release(7));
  EXPECT_EQ(memory.unmap(1000, 500), Pieces());
  EXPECT_EQ(memory.unmap(5000, 500), Pieces{piece});
}

TEST(PhysicalMemory, WhatIsNotReleasedOutlivesItsMappings) {
  PhysicalMemory memory;
  const auto piece = memory.create(7);
  memory.map(1000, 7);
  EXPECT_EQ(memory.unmap(1000, 500), Pieces());
  EXPECT_EQ(memory.release(7), piece);
}

TEST(PhysicalMemory, AReleasedHandleMayBeGivenAgain) {
  PhysicalMemory memory;
  const auto first = memory.create(7);
  memory.map(1000, 7);
  memory.release(7);
  const auto second = memory.create(7);
  EXPECT_NE(first, second);
  EXPECT_EQ(memory.release(7), second);
  EXPECT_EQ(memory.unmap(1000, 500), Pieces{first});
}

TEST(PhysicalMemory, OneCallUnmapsSeveral) {
  PhysicalMemory memory;
  const Pieces all{memory.create(7), memory.create(8)};
  memory.map(1000, 7);
  memory.map(1500, 8);
  memory.release(7);
  memory.release(8);
  EXPECT_EQ(memory.unmap(1000, 1000), all);
}

}  // namespace
}  // namespace memreplay::capture
