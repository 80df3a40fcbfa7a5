#include "extensions/onnxruntime/ort_arena.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

constexpr Bytes kUnit = 256;

/// Pictures count in what the arena rounds to.
MemoryPicture arena(const std::string& options, std::optional<Bytes> units = {}) {
  return MemoryPicture("ort-arena:" + options, units, kUnit);
}

TEST(OrtArena, TheSecondRegionIsTwiceTheFirst) {
  auto m = arena("initial_chunk_size_bytes=256,initial_growth_chunk_size_bytes=16KiB");
  m.alloc('A', 1).alloc('B', 1).alloc('C', 3);
  EXPECT_EQ(m.picture(), "A|B.|CCCC") << "4 are less than twice 3";
}

TEST(OrtArena, ASizeThatARequestRaisedIsNotDoubled) {
  auto m = arena("initial_chunk_size_bytes=512");
  m.alloc('A', 1).alloc('B', 7).alloc('C', 3).alloc('D', 9);
  EXPECT_EQ(m.picture(), "A.|BBBBBBBB|CCC.....|DDDDDDDDDDDDDDDD");
}

TEST(OrtArena, TheCapIsPassedByALargeRequestAndThenLowersTheSize) {
  auto m = arena("initial_chunk_size_bytes=256,max_power_of_two_extend_bytes=1KiB");
  m.alloc('A', 1).alloc('B', 8).alloc('C', 1).alloc('D', 7).alloc('E', 1);
  EXPECT_EQ(m.picture(), "A|BBBBBBBB|CDDDDDDD|E...");
}

TEST(OrtArena, OtherwiseRegionsAreAsLargeAsTheRequest) {
  for (const char* same : {"1", "kSameAsRequested"}) {
    auto m = arena(fmt::format("arena_extend_strategy={}", same));
    m.alloc('A', 3).alloc('B', 2);
    EXPECT_EQ(m.picture(), "AAA|BB");
  }
}

TEST(OrtArena, ASurplusOfTheDeadBytesIsSplitOff) {
  for (const auto& [dead, picture] : {std::pair{1024, "AAAAAA...."}, {1025, "AAAAAAAAAA"}}) {
    auto m = arena(fmt::format("initial_chunk_size_bytes=2560,max_dead_bytes_per_chunk={}", dead));
    m.alloc('A', 6);
    EXPECT_EQ(m.picture(), picture);
  }
}

TEST(OrtArena, AShrinkKeepsTheFirstRegionAndSetsTheNextSize) {
  auto m = arena("initial_chunk_size_bytes=256,initial_growth_chunk_size_bytes=1KiB");
  m.alloc('A', 1).alloc('B', 1).free('A').free('B').empty_cache();
  EXPECT_EQ(m.picture(), ".");
  m.alloc('C', 2);
  EXPECT_EQ(m.picture(), ".|CC..");
  EXPECT_EQ(m.counter("NumArenaExtensions"), 2);
  EXPECT_EQ(m.counter("NumArenaShrinkages"), 1);
}

TEST(OrtArena, RegionsOfTheRequestsSizeAllGoInAShrinkUnlessTheyAreUsed) {
  auto m = arena("arena_extend_strategy=1,max_dead_bytes_per_chunk=256");
  m.alloc('A', 3).alloc('B', 2).free('B').free('A').alloc('C', 1).empty_cache();
  EXPECT_EQ(m.picture(), "C.");
  m.free('C').empty_cache();
  EXPECT_EQ(m.picture(), "");
}

TEST(OrtArena, ARefusedRegionIsTriedSmallerDownTo8KiB) {
  for (const auto& [initial, held] : {std::pair{"16KiB", 9216u}, {"8KiB", 0u}}) {
    SimulatedDevice device({.capacity = 10'000 - (held ? 0 : 4000), .granularity = 1});
    const auto strategy =
        make_strategy(parse_strategy(fmt::format("ort-arena:initial_chunk_size_bytes={}", initial)),
                      {.device = device});
    EXPECT_EQ(strategy->allocate({.size = 1}).has_value(), held > 0);
    EXPECT_EQ(device.usage().held, held);
  }
}

TEST(OrtArena, AnOddRegionFailsTheRequestAndIsLost) {
  auto m = arena("initial_chunk_size_bytes=256,max_power_of_two_extend_bytes=1000");
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).alloc('D', 1);
  EXPECT_EQ(m.picture(), "A|BC");
  EXPECT_EQ(m.ooms(), 1);
  EXPECT_EQ(m.counter("TotalAllocated"), 256 + 512 + 1000);
  EXPECT_EQ(m.counter("NumArenaExtensions"), 2);
  ASSERT_EQ(m.strategy().testimony().remarks.size(), 1u);
  EXPECT_EQ(m.strategy().free_space().total, 0u);
}

TEST(OrtArena, AFailureIsReportedInTheOriginalsWords) {
  auto limited = arena("max_mem=1000");
  limited.alloc('A', 2).alloc('B', 3);
  EXPECT_EQ(limited.abilities().oom_report->oom_report({.size = 3 * kUnit}),
            "Available memory of 0 is smaller than requested bytes of 768\n");
  auto full = arena("", 1);
  full.alloc('A', 2);
  EXPECT_EQ(full.abilities().oom_report->oom_report({.size = 2 * kUnit}),
            "Failed to allocate memory for requested buffer of size 512\n");
}

TEST(OrtArena, ARequestsOwnAlignmentLeavesTheBytesBeforeItFree) {
  auto m = arena("initial_chunk_size_bytes=2KiB");
  m.alloc('A', 1).alloc('B', 2, 4 * kUnit).alloc('C', 3);
  EXPECT_EQ(m.picture(), "ACCCBB..");
}

TEST(OrtArena, ReservesStandApartAndLiftTheLimitOnceTheyPassIt) {
  SimulatedDevice device;
  OrtArena arena({.max_mem = 2 * kMiB}, device);
  EXPECT_FALSE(arena.allocate({.size = 3 * kMiB}));
  const auto weights = arena.reserve(3 * kMiB + 7);
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->size, 3 * kMiB + 7);
  EXPECT_TRUE(arena.allocate({.size = 3 * kMiB})) << "what is left of the limit has wrapped";
}

TEST(OrtArena, PlaysTheWorkedExample) {
  SimulatedDevice device;
  OrtArena arena({}, device);
  const auto place = [&](const std::optional<Placement>& block) {
    return std::pair(block->address - (Address{1} << 44), block->size);
  };
  const auto expect = [&](Bytes in_use, Bytes held) {
    EXPECT_EQ(arena.statistics().in_use, in_use);
    EXPECT_EQ(arena.statistics().held, held);
  };
  const auto a0 = arena.allocate({.size = 1000});
  const auto a2 = arena.allocate({.size = 3'000'000});
  EXPECT_EQ(place(a2), std::pair(Bytes{2'097'152}, Bytes{4'194'304}));
  arena.free(a0->handle, {});
  const auto a3 = arena.allocate({.size = 5'000'000});
  EXPECT_EQ(place(a3), std::pair(Bytes{6'291'456}, Bytes{8'388'608}));
  arena.empty_cache();
  expect(12'582'912, 13'631'488);
  arena.free(a2->handle, {});
  arena.free(a3->handle, {});
  const auto reserved = arena.reserve(777);
  EXPECT_EQ(place(reserved), std::pair(Bytes{14'680'064}, Bytes{777}));
  expect(777, 13'632'265);
  arena.empty_cache();
  expect(777, 1'049'353);
  EXPECT_EQ(place(arena.allocate({.size = 100})), std::pair(Bytes{0}, Bytes{256}));
  arena.free(reserved->handle, {});
  expect(256, 1'048'576);
}

TEST(OrtArena, OptionsThatMeanNothingAreRefused) {
  EXPECT_NO_THROW(arena("max_dead_bytes_per_chunk=-1,arena_extend_strategy=-1"));
  EXPECT_THROW(arena("max_dead_bytes_per_chunk=0"), UsageError);
  EXPECT_THROW(arena("initial_chunk_size_bytes=0"), UsageError);
  EXPECT_THROW(arena("initial_growth_chunk_size_bytes=0"), UsageError);
  EXPECT_THROW(arena("max_power_of_two_extend_bytes=0"), UsageError);
  EXPECT_THROW(arena("arena_extend_strategy=2"), UsageError);
  EXPECT_THROW(arena("max_mem=-1"), UsageError);
}

/// One list of chunks by address, every search through all of it.
class SlowOrtArena final : public SlowModel {
 public:
  SlowOrtArena(const OrtArenaOptions& options, std::optional<Bytes> capacity)
      : o_(options), device_{.capacity = capacity} {
    growth_ = round_up(std::min(limit(), o_.initial_chunk_size_bytes), 256);
  }

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = round_up(request.size, 256);
    std::size_t best = smallest(size);
    if (best == pieces_.size()) {
      if (!extend(size)) return std::nullopt;
      best = smallest(size);
    }
    Piece& piece = pieces_[best];
    piece.used = true;
    const Bytes at = piece.at;
    if (piece.size >= 2 * size || piece.size - size >= o_.max_dead_bytes_per_chunk) {
      const Piece rest{at + size, piece.size - size, piece.region};
      piece.size = size;
      pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(best) + 1, rest);
    }
    return at;
  }

  void free(Bytes address, const FreeOrigin&) override {
    for (Piece& piece : pieces_) {
      if (piece.at == address) piece.used = false;
    }
    for (std::size_t i = 0; i + 1 < pieces_.size();) {
      Piece& lower = pieces_[i];
      const Piece& upper = pieces_[i + 1];
      if (lower.used || upper.used || lower.region != upper.region) {
        ++i;
        continue;
      }
      lower.size += upper.size;
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  void empty_cache() override {
    for (const Bytes region : regions_) {
      if (!o_.same_as_requested && region == regions_.front()) continue;
      const auto in_region = [&](const Piece& piece) { return piece.region == region; };
      const auto used = [&](const Piece& piece) { return in_region(piece) && piece.used; };
      if (std::none_of(pieces_.begin(), pieces_.end(), in_region) ||
          std::any_of(pieces_.begin(), pieces_.end(), used)) {
        continue;
      }
      std::erase_if(pieces_, in_region);
      device_.give_back_at(region);
    }
    growth_ = o_.initial_growth_chunk_size_bytes;
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Piece {
    Bytes at = 0;
    Bytes size = 0;
    Bytes region = 0;  ///< where its region starts
    bool used = false;
  };

  Bytes limit() const { return o_.max_mem.value_or(UINT64_MAX); }

  std::size_t smallest(Bytes size) const {
    std::size_t best = pieces_.size();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].used || pieces_[i].size < size) continue;
      if (best == pieces_.size() || pieces_[i].size < pieces_[best].size) best = i;
    }
    return best;
  }

  bool extend(Bytes size) {
    const Bytes available = (limit() - device_.held) / 256 * 256;
    if (size > available) return false;
    Bytes bytes = size;
    if (!o_.same_as_requested) {
      bool raised = false;
      for (; size > growth_; raised = true) growth_ *= 2;
      bytes = std::min(growth_, available);
      if (!raised) {
        growth_ = 2 * growth_ < o_.max_power_of_two_extend_bytes ? 2 * growth_
                                                                 : o_.max_power_of_two_extend_bytes;
      }
    }
    auto at = device_.obtain(bytes);
    while (!at) {
      bytes = round_up(static_cast<Bytes>(static_cast<float>(bytes) * 0.9f), 256);
      if (bytes < size || bytes < 8192) return false;
      at = device_.obtain(bytes);
    }
    if (bytes % 256 != 0) return false;
    pieces_.push_back({*at, bytes, *at});
    regions_.push_back(*at);
    return true;
  }

  OrtArenaOptions o_;
  SlowDevice device_;
  Bytes growth_ = 0;
  std::vector<Piece> pieces_;
  std::vector<Bytes> regions_;  ///< all there ever were
};

TEST(OrtArena, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<OrtArenaOptions>> cases = {
      {"ort-arena:initial_chunk_size_bytes=4096", {.initial_chunk_size_bytes = 4096}, {}},
      {"ort-arena:arena_extend_strategy=1", {.same_as_requested = true}, {}},
      {"ort-arena:arena_extend_strategy=1,max_dead_bytes_per_chunk=700",
       {.same_as_requested = true, .max_dead_bytes_per_chunk = 700},
       300'001},
      {"ort-arena:max_mem=400001,initial_chunk_size_bytes=1000,max_dead_bytes_per_chunk=256",
       {.max_mem = 400'001, .initial_chunk_size_bytes = 1000, .max_dead_bytes_per_chunk = 256},
       {}},
      {"ort-arena:initial_chunk_size_bytes=5000,initial_growth_chunk_size_bytes=10240,max_power_"
       "of_two_extend_bytes=40960",
       {.initial_chunk_size_bytes = 5000,
        .initial_growth_chunk_size_bytes = 10240,
        .max_power_of_two_extend_bytes = 40960},
       350'000},
      {"ort-arena:initial_growth_chunk_size_bytes=3001,max_power_of_two_extend_bytes=30001",
       {.initial_growth_chunk_size_bytes = 3001, .max_power_of_two_extend_bytes = 30'001},
       {}},
      {"ort-arena:max_power_of_two_extend_bytes=100", {.max_power_of_two_extend_bytes = 100}, {}},
  };
  expect_agreement<SlowOrtArena>(cases, 5,
                                 {.smallest = 10, .largest = 60'000, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay
