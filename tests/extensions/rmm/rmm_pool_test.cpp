#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.hpp"
#include "strategy/random_play.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(RmmPool, TheSmallestBlockThatFitsServesAndTheRestStaysHoweverSmall) {
  MemoryPicture m("rmm-pool:align=1,initial=16");
  m.alloc('A', 4).alloc('B', 1).alloc('C', 3).alloc('D', 1).free('A').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "....BEE.D.......");
  m.alloc('F', 1);
  EXPECT_EQ(m.picture(), "....BEEFD.......");
}

TEST(RmmPool, OfEqualBlocksTheLowestServes) {
  MemoryPicture m("rmm-pool:align=1,initial=8");
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).alloc('D', 3).free('C').free('A').alloc('E', 2);
  EXPECT_EQ(m.picture(), "EEB..DDD");
}

TEST(RmmPool, FreedNeighboursJoin) {
  MemoryPicture m("rmm-pool:align=1,initial=8");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 4).free('A').free('B').alloc('D', 4);
  EXPECT_EQ(m.picture(), "DDDDCCCC");
}

TEST(RmmPool, WithoutAMaximumItGrowsByAsMuchAsItHas) {
  MemoryPicture m("rmm-pool:align=1");
  m.alloc('A', 3).alloc('B', 2).alloc('C', 2).alloc('D', 7);
  EXPECT_EQ(m.picture(), "AAA|BB.|CC....|DDDDDDD.....");
}

TEST(RmmPool, WithAMaximumItGrowsByHalfOfWhatIsLeft) {
  MemoryPicture m("rmm-pool:align=1,maximum=16");
  m.alloc('A', 1).alloc('B', 8).alloc('C', 8);
  EXPECT_EQ(m.picture(), "A.......|BBBBBBBB");
  EXPECT_EQ(m.ooms(), 1);
  EXPECT_EQ(m.oom_retries(), 0u);
}

TEST(RmmPool, AGrowthThatTheDeviceRefusesIsHalvedDownToTheRequest) {
  MemoryPicture m("rmm-pool:align=1", 22);
  m.alloc('A', 16).alloc('B', 3);
  EXPECT_EQ(m.picture(), "AAAAAAAAAAAAAAAA|BBB.");
  EXPECT_EQ(m.oom_retries(), 2u);  // 16 and 8
  m.alloc('C', 4);
  EXPECT_EQ(m.ooms(), 1);
  EXPECT_EQ(m.oom_retries(), 6u);  // 20, 10, 5 and 4
}

TEST(RmmPool, RegionsNeverJoin) {
  MemoryPicture m("rmm-pool:align=1");
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').alloc('C', 3);
  EXPECT_EQ(m.picture(), "..|..|CCC.");
}

TEST(RmmPool, ABlockOfAnotherStreamServesAfterAWaitAndItsRestStaysThere) {
  MemoryPicture m("rmm-pool:align=1,initial=8");
  m.on(1).alloc('A', 3);
  EXPECT_EQ(m.picture(), "AAA.....");
  EXPECT_EQ(m.stream_waits(), 1u);
  m.alloc('B', 3);  // the rest is still of stream 0
  EXPECT_EQ(m.stream_waits(), 2u);
  m.on(0).alloc('C', 2);
  EXPECT_EQ(m.stream_waits(), 2u);
}

TEST(RmmPool, AFreedBlockGoesToTheStreamThatFreesIt) {
  MemoryPicture m("rmm-pool:align=1,initial=2");
  m.on(0).alloc('A', 2).on(1).free('A').alloc('B', 2);
  EXPECT_EQ(m.stream_waits(), 0u);
  m.on(0).free('B').alloc('C', 2);
  EXPECT_EQ(m.stream_waits(), 0u);
}

TEST(RmmPool, NeighboursInListsOfDifferentStreamsJoinOnlyWhenTheListsAreMerged) {
  MemoryPicture m("rmm-pool:align=1,initial=4");
  m.alloc('A', 2).alloc('B', 2).free('A').on(1).free('B');
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u);
  m.alloc('C', 3);
  EXPECT_EQ(m.picture(), "CCC.");
  EXPECT_EQ(m.stream_waits(), 1u);
  EXPECT_EQ(m.counter("lists_merged"), 1);
}

TEST(RmmPool, MergingStopsAtTheFirstListThatHelps) {
  MemoryPicture m("rmm-pool:align=1,initial=8");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 2);
  m.on(0).free('C').on(1).free('A').on(2).free('B').on(3).free('D');
  m.on(1).alloc('E', 4);  // 0 does not help, 2 does, 3 stays
  EXPECT_EQ(m.picture(), "EEEE....");
  EXPECT_EQ(m.stream_waits(), 2u);
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u);
}

TEST(RmmPool, ARequestsOwnAlignmentLeavesTheBytesBeforeItFree) {
  MemoryPicture m("rmm-pool:align=1,initial=8");
  m.alloc('A', 1).alloc('B', 2, 4).alloc('C', 3);
  EXPECT_EQ(m.picture(), "ACCCBB..");
}

TEST(RmmPool, AfterEverythingWasFreedByOneStreamEachRegionIsOneBlock) {
  MemoryPicture m("rmm-pool:align=1");
  for (char name = 'a'; name <= 'z'; ++name) m.on(name % 3).alloc(name, name % 7 + 1);
  m.on(1);
  for (char name = 'a'; name <= 'z'; ++name) m.free(name);
  m.alloc('A', 1000).free('A');  // merges what was left in the lists of 0 and 2
  EXPECT_EQ(m.strategy().free_ranges().size(), m.strategy().memory_state().segments.size());
}

TEST(RmmPool, SizesThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("rmm-pool:initial=100"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-pool:maximum=1000"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-pool:initial=1024,maximum=512"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-pool:align=3"), UsageError);
}

TEST(RmmPool, ItNeverHoldsMoreThanItsMaximum) {
  play_at_random("rmm-pool:maximum=8KiB", {.streams = 3},
                 [](const Played& played) { ASSERT_LE(played.device.usage().held, 8 * kKiB); });
}

TEST(RmmPool, WithOneStreamNothingIsWaitedForOrMerged) {
  play_at_random("rmm-pool:align=1", {.capacity = 12000}, [](const Played& played) {
    ASSERT_EQ(played.strategy.usage().stream_waits, 0u);
    ASSERT_EQ(played.counter("lists_merged"), 0);
  });
}

TEST(RmmPool, WithoutAMaximumEachGrowthDoublesItAtLeast) {
  Bytes held = 0;
  play_at_random("rmm-pool:align=1", {.streams = 4}, [&](const Played& played) {
    const Bytes now = played.device.usage().held;
    if (now != held) {
      ASSERT_GE(now, 2 * held);
    }
    held = now;
  });
}

TEST(RmmPool, NoTwoNeighboursInOneListAreLeftApart) {
  play_at_random("rmm-pool:align=1", {}, [](const Played& played) {
    std::set<Address> heads;
    for (const SegmentInfo& region : played.strategy.memory_state().segments) {
      heads.insert(region.address);
    }
    std::map<Address, Address> ranges;
    for (const AddressRange& range : played.strategy.free_ranges()) ranges[range.from] = range.to;
    std::optional<Address> end;
    for (const auto& [from, to] : ranges) {
      const bool head = heads.contains(from);
      ASSERT_TRUE(head || from != end);
      end = to;
    }
  });
}

/// Sorted vectors, gone through from end to end.
class SlowRmmPool final : public SlowModel {
 public:
  SlowRmmPool(SlowDevice device, Bytes align, Bytes initial, std::optional<Bytes> maximum)
      : device_(device), align_(align), maximum_(maximum) {
    if (initial == 0) return;
    order_.push_back(0);
    lists_[0];
    if (const auto at = device_.obtain(initial)) {
      insert(0, {*at, initial, true});
      pool_ = initial;
    }
  }

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = round_up(request.size, align_);
    const Bytes alignment = std::max(request.alignment, align_);
    const int own = request.stream;
    see(own);
    if (const auto at = serve(own, size, alignment)) return at;
    for (const int other : order_) {
      if (other == own || !lists_.contains(other)) continue;
      if (const auto at = serve(other, size, alignment)) return at;
    }
    for (const int other : order_) {
      if (other == own || !lists_.contains(other)) continue;
      const auto moved = lists_[other];
      lists_.erase(other);
      for (const Piece& piece : moved) insert(own, piece);
      if (const auto at = serve(own, size, alignment)) return at;
    }
    if (!grow(own, size)) return std::nullopt;
    return serve(own, size, alignment);
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    see(giver.stream);
    insert(giver.stream, live_[address]);
    live_.erase(address);
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Piece {
    Bytes at = 0;
    Bytes size = 0;
    bool head = false;
  };

  void see(int stream) {
    if (std::find(order_.begin(), order_.end(), stream) == order_.end()) order_.push_back(stream);
    lists_[stream];
  }

  void insert(int stream, const Piece& piece) {
    std::vector<Piece>& list = lists_[stream];
    list.push_back(piece);
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    for (std::size_t i = 0; i + 1 < list.size();) {
      if (list[i].at + list[i].size == list[i + 1].at && !list[i + 1].head) {
        list[i].size += list[i + 1].size;
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      } else {
        ++i;
      }
    }
  }

  std::optional<Bytes> serve(int stream, Bytes size, Bytes alignment) {
    std::vector<Piece>& list = lists_[stream];
    auto best = list.end();
    for (auto at = list.begin(); at != list.end(); ++at) {
      if (round_up(at->at, alignment) + size > at->at + at->size) continue;
      if (best == list.end() || at->size < best->size) best = at;
    }
    if (best == list.end()) return std::nullopt;
    const Piece whole = *best;
    list.erase(best);
    const Bytes from = round_up(whole.at, alignment);
    const Bytes end = whole.at + whole.size;
    if (from > whole.at) insert(stream, {whole.at, from - whole.at, whole.head});
    live_[from] = {from, size, whole.head && from == whole.at};
    if (from + size < end) insert(stream, {from + size, end - from - size, false});
    return from;
  }

  bool grow(int stream, Bytes size) {
    Bytes want = std::max(size, pool_);
    if (maximum_) {
      const Bytes room = pool_ >= *maximum_ ? 0 : round_up(*maximum_ - pool_, align_);
      if (size > room) return false;
      want = std::max(size, room / 2);
    }
    while (true) {
      if (const auto at = device_.obtain(want)) {
        insert(stream, {*at, want, true});
        pool_ += want;
        return true;
      }
      if (want == size) return false;
      want = std::max(size, want / 2);
    }
  }

  SlowDevice device_;
  Bytes align_;
  std::optional<Bytes> maximum_;
  Bytes pool_ = 0;
  std::vector<int> order_;
  std::map<int, std::vector<Piece>> lists_;
  std::map<Bytes, Piece> live_;
};

TEST(RmmPool, AgreesWithASlowModelOnRandomTraces) {
  struct Case {
    Bytes align;
    Bytes initial;
    std::optional<Bytes> maximum;
    std::optional<Bytes> capacity;
    int streams;
  };
  const Case cases[] = {{1, 0, {}, {}, 1},     {1, 0, {}, 9000, 3},      {1, 2000, {}, {}, 6},
                        {16, 0, 8000, {}, 4},  {16, 1600, 16000, {}, 2}, {1, 5000, 9000, 7000, 3},
                        {256, 0, {}, 30000, 5}};
  for (const Case& c : cases) {
    std::string spec = fmt::format("rmm-pool:align={},initial={}", c.align, c.initial);
    if (c.maximum) spec += fmt::format(",maximum={}", *c.maximum);
    SCOPED_TRACE(spec);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SlowRmmPool model({.capacity = c.capacity}, c.align, c.initial, c.maximum);
      expect_same_placements(
          spec, model,
          {.seed = seed, .capacity = c.capacity, .streams = c.streams, .strange_givers = true});
    }
  }
}

}  // namespace
}  // namespace memreplay
