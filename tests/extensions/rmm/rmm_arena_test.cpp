#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "strategy/random_play.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr Bytes kUnit = 256;
/// 16 units; a superblock has four at least.
constexpr std::string_view kSmall = "rmm-arena:arena_size=4KiB,superblock_min=1KiB";

TEST(RmmArena, TheWholeArenaIsTakenAtTheStart) {
  MemoryPicture m(kSmall, {}, kUnit);
  EXPECT_EQ(m.picture(), "................");
  EXPECT_EQ(m.counter("superblocks"), 1);
}

TEST(RmmArena, AStreamTakesASuperblockAndServesFromIt) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.on(0).alloc('A', 1).on(1).alloc('B', 1).on(0).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AC..B...........");
  EXPECT_EQ(m.counter("superblocks"), 3);
  EXPECT_EQ(m.counter("superblocks_of_streams"), 2);
}

TEST(RmmArena, TheLowestBlockThatFitsServes) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.alloc('A', 2).alloc('B', 1).free('A').alloc('C', 1).alloc('D', 1);
  EXPECT_EQ(m.picture(), "CDB.............");
}

TEST(RmmArena, ALargeRequestIsServedExactlyAndItsSuperblockStaysInCommon) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.alloc('A', 6);
  EXPECT_EQ(m.counter("superblocks"), 2);
  EXPECT_EQ(m.counter("superblocks_of_streams"), 0);
  m.free('A');
  EXPECT_EQ(m.counter("superblocks"), 1);
  EXPECT_EQ(m.counter("stream_syncs"), 1);
}

TEST(RmmArena, ATailThatIsNoSuperblockIsNotCutOff) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.alloc('A', 13);
  EXPECT_EQ(m.counter("superblocks"), 1);
  m.alloc('B', 3);
  EXPECT_EQ(m.picture(), "AAAAAAAAAAAAABBB");
  EXPECT_EQ(m.counter("superblocks_of_streams"), 1);
}

TEST(RmmArena, ASuperblockStaysWithItsStreamThoughItIsEmpty) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.on(0).alloc('A', 1).free('A').on(1).alloc('B', 1);
  EXPECT_EQ(m.picture(), "....B...........");
  EXPECT_EQ(m.counter("superblocks"), 3);
}

TEST(RmmArena, WhenNothingFitsAllSuperblocksComeBackAndEmptyOnesJoin) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.on(0).alloc('A', 1).on(1).alloc('B', 1).on(2).alloc('C', 1).on(3).alloc('D', 1);
  m.on(0).free('A').on(1).free('B').alloc('E', 8);
  EXPECT_EQ(m.picture(), "EEEEEEEEC...D...");
  EXPECT_EQ(m.syncs(), 1u);
  EXPECT_EQ(m.oom_retries(), 1u);
  EXPECT_EQ(m.counter("superblocks_of_streams"), 0);
  m.alloc('F', 4);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(RmmArena, BlocksJoinWithinTheirSuperblockOnly) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.on(0).alloc('A', 4).on(1).alloc('B', 4).on(0).free('A').on(1).free('B');
  EXPECT_EQ(m.strategy().free_ranges().size(), 3u);
}

TEST(RmmArena, ABlockFreedByAnotherStreamIsSearchedForInItsArena) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.on(0).alloc('A', 2).on(1).free('A');
  EXPECT_EQ(m.counter("cross_arena_frees"), 1);
  EXPECT_EQ(m.counter("stream_syncs"), 1);
  m.alloc('B', 1).on(0).alloc('C', 1);
  EXPECT_EQ(m.picture(), "C...B...........");
}

TEST(RmmArena, TouchedIsTheHighestByteEverUsed) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.alloc('A', 6).alloc('B', 2).free('A').free('B');
  EXPECT_EQ(m.counter("touched"), 8 * 256);
}

TEST(RmmArena, SizeClassesAreFourForEachDoubling) {
  SimulatedDevice device;
  const auto plain =
      make_strategy(parse_strategy("rmm-arena:size_classes=true"), {.device = device});
  const auto quirk = make_strategy(
      parse_strategy("rmm-arena:size_classes=true,size_class_quirk=true"), {.device = device});
  const std::array<Bytes, 3> sizes[] = {{1, 256, 256},
                                        {257, 512, 512},
                                        {2048, 2048, 2048},
                                        {2049, 2560, 2560},
                                        {4096, 4096, 4096},
                                        {4097, 5120, 5120},
                                        {53000, 57344, 55296},
                                        {55296, 57344, 55296},
                                        {55297, 57344, 65536},
                                        {57345, 65536, 65536},
                                        {3 * kMiB, 3 * kMiB, 3 * kMiB},
                                        {3 * kMiB + 1, 3584 * kKiB, 3584 * kKiB}};
  for (const auto& [requested, by_pattern, by_table] : sizes) {
    EXPECT_EQ(plain->allocate({.size = requested})->size, by_pattern);
    EXPECT_EQ(quirk->allocate({.size = requested})->size, by_table);
  }
}

TEST(RmmArena, ARequestsOwnAlignmentLeavesTheBytesBeforeItFree) {
  MemoryPicture m(kSmall, {}, kUnit);
  m.alloc('A', 1).alloc('B', 1, 512).alloc('C', 1).alloc('D', 5, 1024);
  EXPECT_EQ(m.picture(), "ACB.DDDDD.......");
}

TEST(RmmArena, WithoutASizeItIsHalfOfWhatTheDeviceHas) {
  EXPECT_EQ(MemoryPicture("rmm-arena", 64 * kMiB).device().held, 32 * kMiB);
  EXPECT_EQ(MemoryPicture("rmm-arena").device().held, kTiB / 2);
}

TEST(RmmArena, AnArenaThatIsNoSuperblockIsRefused) {
  EXPECT_THROW(MemoryPicture("rmm-arena:arena_size=1023KiB"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-arena:superblock_min=100"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-arena:superblock_min=0"), UsageError);
}

TEST(RmmArena, WhatIsHeldNeverChanges) {
  const RandomPlay play{.largest = 6000, .live_at_most = 90, .streams = 4, .strange_givers = true};
  std::uint64_t syncs = 0;
  play_at_random("rmm-arena:arena_size=128KiB,superblock_min=4KiB", play,
                 [&](const Played& played) {
                   ASSERT_EQ(played.device.usage().held, 128 * kKiB);
                   ASSERT_LE(played.counter("superblocks"), 32);
                   // A refusal comes right after all superblocks came back.
                   if (played.request && !played.placement) {
                     ASSERT_EQ(played.counter("superblocks_of_streams"), 0);
                     ASSERT_GT(played.strategy.usage().syncs, syncs);
                   }
                   syncs = played.strategy.usage().syncs;
                 });
  EXPECT_GT(syncs, 0u);
}

/// Superblocks by address with their pieces, gone through from the lowest on.
class SlowRmmArena final : public SlowModel {
 public:
  SlowRmmArena(Bytes size, Bytes superblock_min) : min_(superblock_min) {
    superblocks_.push_back({0, size, kGlobal, {{0, size, false}}});
  }

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = round_up(request.size, 256);
    auto at = serve(size, request.stream);
    if (at) return at;
    for (Superblock& superblock : superblocks_) superblock.arena = kGlobal;
    join_empty();
    return serve(size, request.stream);
  }

  void free(Bytes address, const FreeOrigin&) override {
    for (Superblock& superblock : superblocks_) {
      for (Piece& piece : superblock.pieces) {
        if (piece.at == address) piece.used = false;
      }
      auto& pieces = superblock.pieces;
      for (std::size_t i = 0; i + 1 < pieces.size();) {
        if (pieces[i].used || pieces[i + 1].used) {
          ++i;
          continue;
        }
        pieces[i].size += pieces[i + 1].size;
        pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
    join_empty();
  }

 private:
  static constexpr int kGlobal = -1;
  struct Piece {
    Bytes at;
    Bytes size;
    bool used;
  };
  struct Superblock {
    Bytes at;
    Bytes size;
    int arena;
    std::vector<Piece> pieces;

    bool empty() const { return pieces.size() == 1 && !pieces[0].used; }
  };

  void join_empty() {
    for (std::size_t i = 0; i + 1 < superblocks_.size();) {
      Superblock& low = superblocks_[i];
      const Superblock& high = superblocks_[i + 1];
      if (low.arena == kGlobal && high.arena == kGlobal && low.empty() && high.empty()) {
        low.size += high.size;
        low.pieces[0].size = low.size;
        superblocks_.erase(superblocks_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      } else {
        ++i;
      }
    }
  }

  std::optional<std::size_t> lowest(int arena, Bytes size) const {
    for (std::size_t i = 0; i < superblocks_.size(); ++i) {
      if (superblocks_[i].arena != arena) continue;
      for (const Piece& piece : superblocks_[i].pieces) {
        if (!piece.used && piece.size >= size) return i;
      }
    }
    return std::nullopt;
  }

  std::optional<Bytes> serve(Bytes size, int stream) {
    std::optional<std::size_t> found;
    if (size <= min_) found = lowest(stream, size);
    if (!found) {
      found = lowest(kGlobal, size);
      if (!found) return std::nullopt;
      const Bytes kept = std::max(min_, size);
      Superblock& cut = superblocks_[*found];
      if (cut.empty() && cut.size >= kept + min_) {
        const Bytes rest = cut.size - kept;
        const Superblock tail{cut.at + kept, rest, kGlobal, {{cut.at + kept, rest, false}}};
        cut.size = cut.pieces[0].size = kept;
        superblocks_.insert(superblocks_.begin() + static_cast<std::ptrdiff_t>(*found) + 1, tail);
      }
      if (size <= min_) superblocks_[*found].arena = stream;
    }
    auto& pieces = superblocks_[*found].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i].used || pieces[i].size < size) continue;
      const Piece whole = pieces[i];
      pieces[i] = {whole.at, size, true};
      if (whole.size > size) {
        pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      {whole.at + size, whole.size - size, false});
      }
      return whole.at;
    }
    return std::nullopt;
  }

  Bytes min_;
  std::vector<Superblock> superblocks_;
};

TEST(RmmArena, AgreesWithASlowModelOnRandomTraces) {
  struct Case {
    Bytes size;
    Bytes superblock_min;
    int streams;
    double largest;
  };
  const Case cases[] = {{64 * kKiB, 4 * kKiB, 1, 12000},
                        {128 * kKiB, 4 * kKiB, 3, 16000},
                        {48 * kKiB, 1 * kKiB, 4, 5000},
                        {200 * kKiB, 8 * kKiB, 6, 9000},
                        {20 * kKiB, 2 * kKiB, 2, 2500}};
  for (const Case& c : cases) {
    const auto spec =
        fmt::format("rmm-arena:arena_size={},superblock_min={}", c.size, c.superblock_min);
    SCOPED_TRACE(spec);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      SlowRmmArena model(c.size, c.superblock_min);
      expect_same_placements(
          spec, model,
          {.seed = seed, .largest = c.largest, .streams = c.streams, .strange_givers = true});
    }
  }
}

}  // namespace
}  // namespace memreplay
