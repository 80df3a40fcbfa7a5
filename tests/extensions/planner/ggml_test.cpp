#include "extensions/planner/ggml.hpp"

#include <gtest/gtest.h>

#include "extensions/planner/random_blocks.hpp"

namespace memreplay {
namespace {

TEST(Ggml, TheSmallestHoleIsTakenAndOfEqualsTheHighest) {
  const std::vector<PlannedBlock> blocks = {{0, 2, 4}, {0, 9, 1}, {0, 2, 3}, {0, 9, 1},
                                            {0, 2, 3}, {0, 9, 1}, {3, 9, 2}};
  EXPECT_EQ(place_as_ggml(blocks).offsets, (std::vector<Bytes>{0, 4, 5, 8, 9, 12, 9}));
}

TEST(Ggml, TheTopIsTheLastResortAndSinksWhereItsBlocksGo) {
  const std::vector<PlannedBlock> blocks = {{0, 9, 2}, {1, 2, 4}, {3, 5, 8}, {6, 9, 3}};
  const Packing packing = place_as_ggml(blocks);
  EXPECT_EQ(packing.offsets, (std::vector<Bytes>{0, 2, 2, 2}));
  EXPECT_EQ(packing.height, 10u);
}

TEST(Ggml, WhatAnAlignmentSkipsStaysFree) {
  const std::vector<PlannedBlock> blocks = {{0, 9, 1}, {1, 9, 4, 8}, {2, 9, 3}, {3, 9, 4}};
  EXPECT_EQ(place_as_ggml(blocks).offsets, (std::vector<Bytes>{0, 8, 1, 4}));
}

/// The list of free blocks as the original has it, by address, the last one endless.
class SlowGgml {
 public:
  Bytes place(const PlannedBlock& block) {
    std::size_t best = free_.size() - 1;
    for (std::size_t i = 0; i + 1 < free_.size(); ++i) {
      const Bytes lead = round_up(free_[i].from, block.alignment) - free_[i].from;
      if (free_[i].size < lead + block.size) continue;
      if (best + 1 == free_.size() || free_[i].size <= free_[best].size) best = i;
    }
    const Free taken = free_[best];
    const Bytes at = round_up(taken.from, block.alignment);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(best));
    give(taken.from, at - taken.from);
    give(at + block.size, taken.from + taken.size - at - block.size);
    return at;
  }
  void give(Bytes from, Bytes size) {
    if (size == 0) return;
    auto at = free_.begin();
    while (at != free_.end() && at->from < from) ++at;
    at = free_.insert(at, {from, size});
    if (std::next(at) != free_.end() && at->from + at->size == std::next(at)->from) {
      at->size += std::next(at)->size;
      free_.erase(std::next(at));
    }
    if (at != free_.begin() && std::prev(at)->from + std::prev(at)->size == at->from) {
      std::prev(at)->size += at->size;
      free_.erase(at);
    }
  }

 private:
  struct Free {
    Bytes from = 0;
    Bytes size = 0;
  };
  std::vector<Free> free_ = {{0, Bytes{1} << 60}};
};

std::vector<Bytes> placed_slowly(const std::vector<PlannedBlock>& blocks) {
  SlowGgml arena;
  std::vector<Bytes> offsets(blocks.size());
  for (std::uint64_t time = 0; time <= 50; ++time) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].end == time) arena.give(offsets[i], blocks[i].size);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].start == time) offsets[i] = arena.place(blocks[i]);
    }
  }
  return offsets;
}

TEST(Ggml, AgreesWithTheListOfTheOriginalOnRandomBlocks) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 2000; ++i) {
    const auto blocks = random_blocks(random, {.count = 1 + random() % 60,
                                               .last_time = 40,
                                               .largest = 1 + random() % 12,
                                               .alignments = 1 + i % 3});
    const Packing packing = place_as_ggml(blocks);
    ASSERT_FALSE(first_conflict(blocks, packing));
    ASSERT_EQ(packing.offsets, placed_slowly(blocks)) << i;
  }
}

}  // namespace
}  // namespace memreplay
