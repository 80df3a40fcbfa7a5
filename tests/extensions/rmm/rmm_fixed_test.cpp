#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "core/error.hpp"
#include "strategy/random_play.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(RmmFixed, AChunkIsTakenAtTheStart) {
  MemoryPicture m("rmm-fixed:align=1,block=2,blocks_per_chunk=3");
  EXPECT_EQ(m.picture(), "......");
}

TEST(RmmFixed, EachRequestGetsAWholeBlock) {
  MemoryPicture m("rmm-fixed:align=1,block=2,blocks_per_chunk=3");
  m.alloc('A', 1).alloc('B', 2);
  EXPECT_EQ(m.picture(), "AABB..");
}

TEST(RmmFixed, RequestsAboveTheBlockFail) {
  MemoryPicture m("rmm-fixed:align=1,block=2,blocks_per_chunk=3");
  m.alloc('A', 3);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(RmmFixed, TheBlockThatWasFreedFirstServesFirst) {
  MemoryPicture m("rmm-fixed:align=1,block=1,blocks_per_chunk=3");
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).free('C').free('A').alloc('D', 1).alloc('E', 1);
  EXPECT_EQ(m.picture(), "EBD");
}

TEST(RmmFixed, AnotherChunkIsTakenWhenNoListHasABlock) {
  MemoryPicture m("rmm-fixed:align=1,block=2,blocks_per_chunk=2");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AABB|CC..");
}

TEST(RmmFixed, ADeviceWithoutRoomForAChunkServesNothing) {
  MemoryPicture m("rmm-fixed:align=1,block=2,blocks_per_chunk=4", 7);
  m.alloc('A', 1);
  EXPECT_EQ(m.ooms(), 1);
  EXPECT_EQ(m.device().held, 0u);
}

TEST(RmmFixed, TheBlockOfAnotherStreamServesAfterAWait) {
  MemoryPicture m("rmm-fixed:align=1,block=1,blocks_per_chunk=2");
  m.on(1).alloc('A', 1);
  EXPECT_EQ(m.stream_waits(), 1u);
  m.free('A').alloc('B', 1);  // its own by now
  EXPECT_EQ(m.stream_waits(), 1u);
  EXPECT_EQ(m.picture(), "B.");
}

TEST(RmmFixed, BeforeItGrowsItWaitsForTheStreamsWhoseListsItMerges) {
  MemoryPicture m("rmm-fixed:align=1,block=1,blocks_per_chunk=1");
  m.on(0).alloc('A', 1).on(1).alloc('B', 1);
  EXPECT_EQ(m.stream_waits(), 1u);
  EXPECT_EQ(m.picture(), "A|B");
}

TEST(RmmFixed, ARequestsOwnAlignmentTakesTheFirstBlockThatHasIt) {
  MemoryPicture m("rmm-fixed:align=1,block=3,blocks_per_chunk=6");
  m.alloc('A', 1).alloc('B', 1, 4).alloc('C', 1, 2);
  EXPECT_EQ(m.picture(), "AAA...CCC...BBB...");
}

TEST(RmmFixed, TheBlockIsRoundedUp) {
  MemoryPicture m("rmm-fixed:block=257,blocks_per_chunk=2");
  EXPECT_EQ(m.device().held, 1024u);
}

TEST(RmmFixed, AChunkOfNothingIsRefused) {
  EXPECT_THROW(MemoryPicture("rmm-fixed:block=0"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-fixed:blocks_per_chunk=0"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-fixed:block=16777216TiB,blocks_per_chunk=2"), UsageError);
}

TEST(RmmFixed, LiveAndFreeBlocksAreThoseOfWholeChunks) {
  const RandomPlay play{.streams = 4, .capacity = 40000, .strange_givers = true};
  play_at_random("rmm-fixed:block=1024,blocks_per_chunk=5", play, [](const Played& played) {
    const auto live = static_cast<std::int64_t>(played.live_bytes / 1024);
    ASSERT_EQ(live + played.counter("free_blocks"), 5 * played.counter("chunks"));
    ASSERT_EQ(played.strategy.free_ranges().size(),
              static_cast<std::size_t>(played.counter("free_blocks")));
    ASSERT_EQ(played.device.usage().held % (5 * 1024), 0u);
    for (const SegmentInfo& chunk : played.strategy.memory_state().segments) {
      for (const BlockInfo& block : chunk.blocks) {
        ASSERT_EQ((block.address - chunk.address) % 1024, 0u);
      }
    }
  });
}

/// Queues of addresses.
class SlowRmmFixed final : public SlowModel {
 public:
  SlowRmmFixed(SlowDevice device, Bytes block, Bytes blocks)
      : device_(device), block_(block), blocks_(blocks) {
    see(0);
    grow(0);
  }

  std::optional<Bytes> allocate(const Request& request) override {
    if (request.size > block_) return std::nullopt;
    const int own = request.stream;
    see(own);
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    if (const auto at = take(own, alignment)) return at;
    for (const int other : order_) {
      if (lists_.contains(other)) {
        if (const auto at = take(other, alignment)) return at;
      }
    }
    for (const int other : order_) {
      if (other == own || !lists_.contains(other)) continue;
      for (const Bytes at : lists_[other]) lists_[own].push_back(at);
      lists_.erase(other);
    }
    grow(own);
    return take(own, alignment);
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    see(giver.stream);
    lists_[giver.stream].push_back(address);
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  void see(int stream) {
    if (std::find(order_.begin(), order_.end(), stream) == order_.end()) order_.push_back(stream);
    lists_[stream];
  }
  std::optional<Bytes> take(int stream, Bytes alignment) {
    auto& list = lists_[stream];
    const auto found =
        std::find_if(list.begin(), list.end(), [&](Bytes at) { return at % alignment == 0; });
    if (found == list.end()) return std::nullopt;
    const Bytes at = *found;
    list.erase(found);
    return at;
  }
  void grow(int stream) {
    const auto base = device_.obtain(block_ * blocks_);
    for (Bytes i = 0; base && i < blocks_; ++i) lists_[stream].push_back(*base + i * block_);
  }

  SlowDevice device_;
  Bytes block_;
  Bytes blocks_;
  std::vector<int> order_;
  std::map<int, std::deque<Bytes>> lists_;
};

TEST(RmmFixed, AgreesWithASlowModelOnRandomTraces) {
  struct Case {
    Bytes block;
    Bytes blocks;
    std::optional<Bytes> capacity;
    int streams;
  };
  const Case cases[] = {{900, 4, {}, 1},     {900, 7, 30000, 3},  {512, 8, {}, 5},
                        {100, 16, 16000, 2}, {1000, 1, 40000, 4}, {768, 32, {}, 2}};
  for (const Case& c : cases) {
    const auto spec =
        fmt::format("rmm-fixed:align=1,block={},blocks_per_chunk={}", c.block, c.blocks);
    SCOPED_TRACE(spec);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SlowRmmFixed model({.capacity = c.capacity}, c.block, c.blocks);
      expect_same_placements(
          spec, model,
          {.seed = seed, .capacity = c.capacity, .streams = c.streams, .strange_givers = true});
    }
  }
}

}  // namespace
}  // namespace memreplay
