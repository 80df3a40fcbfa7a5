#include <gtest/gtest.h>

#include <algorithm>

#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

TEST(FreeList, FirstFitTakesTheLowestBlockThatFits) {
  MemoryPicture m("free-list:fit=first");
  m.alloc('A', 4).alloc('B', 2).free('A').free('B').alloc('C', 2);
  EXPECT_EQ(m.picture(), "CC..|..");
}

TEST(FreeList, BestFitTakesTheSmallestBlockThatFits) {
  MemoryPicture m("free-list:fit=best");
  m.alloc('A', 4).alloc('B', 2).free('A').free('B').alloc('C', 2);
  EXPECT_EQ(m.picture(), "....|CC");
}

TEST(FreeList, FreeingTheMiddleOfThreeJoinsAllOfThem) {
  MemoryPicture m("free-list");
  m.alloc('Z', 9).free('Z').alloc('A', 3).alloc('B', 3).alloc('C', 3);
  m.free('A').free('C').free('B').alloc('D', 9);
  EXPECT_EQ(m.picture(), "DDDDDDDDD");
}

TEST(FreeList, BlocksOfTwoRegionsNeverJoin) {
  MemoryPicture m("free-list", std::nullopt, 2 * kMiB);
  m.alloc('A', 1).alloc('B', 1).free('A').free('B').alloc('C', 2);
  EXPECT_EQ(m.picture(), ".|.|CC");
}

TEST(FreeList, WithoutSplittingAFreeBlockIsTakenWhole) {
  MemoryPicture m("free-list:fit=first,split=false");
  m.alloc('A', 200).alloc('B', 300).free('A').alloc('C', 100).alloc('D', 400);
  EXPECT_EQ(m.peak_allocated(), 900u);
  m.free('C').free('B').free('D');
  EXPECT_EQ(m.device().held, 900u);
}

TEST(FreeList, EmptyingTheCacheReturnsRegionsWithoutBlocks) {
  MemoryPicture m("free-list");
  m.alloc('A', 4).alloc('B', 2).free('A').empty_cache();
  EXPECT_EQ(m.picture(), "BB");
  m.alloc('C', 1).free('B').free('C').empty_cache();
  EXPECT_EQ(m.device().held, 0u);
}

TEST(FreeList, AFullDeviceIsAnAnswer) {
  MemoryPicture m("free-list", 6);
  m.alloc('A', 4).alloc('B', 3).free('A').alloc('C', 3);
  EXPECT_EQ(m.picture(), "CCC.");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(FreeList, SizesAreRoundedToTheAlignment) {
  MemoryPicture m("free-list:align=4");
  m.alloc('A', 5);
  EXPECT_EQ(m.picture(), "AAAAAAAA");
}

/// A list of all blocks by address, searched from one end to the other.
class SlowFreeList final : public SlowModel {
 public:
  SlowFreeList(bool best_fit, bool split) : best_fit_(best_fit), split_(split) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const auto [size, alignment] = std::pair(request.size, request.alignment);
    auto found = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->used || round_up(block->from, alignment) + size > block->to) continue;
      const bool better = found == blocks_.end() ||
                          (best_fit_ && block->to - block->from < found->to - found->from);
      if (better) found = block;
    }
    if (found == blocks_.end()) {
      blocks_.push_back({next_region_, next_region_ + size, next_region_, false});
      next_region_ = round_up(next_region_ + size, Bytes{256});
      found = std::prev(blocks_.end());
    }
    const Block whole = *found;
    const Bytes at = round_up(whole.from, alignment);
    if (!split_) {
      found->used = true;
      found->placed = at;
      return at;
    }
    const std::vector<Block> parts = {{whole.from, at, whole.region, false},
                                      {at, at + size, whole.region, true, at},
                                      {at + size, whole.to, whole.region, false}};
    auto place = blocks_.erase(found);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->from < part->to) place = blocks_.insert(place, *part);
    }
    return at;
  }

  void free(Bytes address, const FreeOrigin&) override {
    for (Block& block : blocks_) {
      if (block.used && block.placed == address) block.used = false;
    }
    for (std::size_t i = 0; split_ && i + 1 < blocks_.size();) {
      Block& left = blocks_[i];
      const Block& right = blocks_[i + 1];
      if (left.used || right.used || left.region != right.region) {
        ++i;
        continue;
      }
      left.to = right.to;
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

 private:
  struct Block {
    Bytes from = 0, to = 0, region = 0;
    bool used = false;
    Bytes placed = 0;
  };

  bool best_fit_;
  bool split_;
  std::vector<Block> blocks_;
  Bytes next_region_ = 0;
};

TEST(FreeList, AgreesWithASlowModelOnRandomTraces) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const bool best_fit : {false, true}) {
      for (const bool split : {false, true}) {
        SlowFreeList model(best_fit, split);
        const std::string spec = std::string("free-list:fit=") + (best_fit ? "best" : "first") +
                                 ",split=" + (split ? "true" : "false");
        SCOPED_TRACE(spec);
        expect_same_placements(spec, model, {.seed = seed, .capacity = {}});
      }
    }
  }
}

}  // namespace
}  // namespace memreplay
