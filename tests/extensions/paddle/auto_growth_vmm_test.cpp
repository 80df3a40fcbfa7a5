#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <random>

#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr Bytes kGranuleOfPictures = 2 * kMiB;
const std::string kCompacting = ":native_compact=true";

/// Pictures count in granules; each growth asks for 256 bytes more, so for a granule more.
MemoryPicture in_one_range(const std::string& options, std::optional<Bytes> granules = {}) {
  return MemoryPicture("auto-growth-vmm" + options, granules, kGranuleOfPictures);
}

TEST(AutoGrowthVmm, TheRangeGrowsByWhatItsEndLacks) {
  auto m = in_one_range("");
  m.alloc('A', 2);
  EXPECT_EQ(m.picture(), "AA.");
  m.alloc('B', 3);
  EXPECT_EQ(m.picture(), "AABBB.");
}

TEST(AutoGrowthVmm, WhereItIsFullAHoleInTheMiddleIsNoRoom) {
  auto m = in_one_range("", 8);
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).free('A').alloc('D', 3);
  EXPECT_EQ(m.picture(), "..BCC.");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(AutoGrowthVmm, CompactingMovesLiveBlocksTogetherAndSaysHowMuch) {
  auto m = in_one_range(kCompacting, 8);
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).free('A');
  EXPECT_EQ(m.picture(), "..BCC.");
  m.alloc('D', 3);
  EXPECT_EQ(m.picture(), "BCCDDD");
  EXPECT_EQ(m.counter("compactions"), 1);
  EXPECT_EQ(m.counter("moved_blocks"), 2);
  EXPECT_EQ(m.counter("moved_bytes"), static_cast<std::int64_t>(3 * kGranuleOfPictures));
  EXPECT_EQ(m.strategy().testimony().remarks.at(1), "1 compaction moved 6 MiB of live blocks");
  m.free('B').alloc('E', 1);
  EXPECT_EQ(m.picture(), "ECCDDD");
}

TEST(AutoGrowthVmm, ABlockThatAStreamStillUsesStays) {
  SimulatedDevice device({.capacity = 8 * kGranuleOfPictures});
  const auto tested = make_strategy(parse_strategy("auto-growth-vmm" + kCompacting),
                                    {.device = device, .capacity = 8 * kGranuleOfPictures});
  const auto place = [&](Bytes granules) {
    return tested->allocate({.size = granules * kGranuleOfPictures});
  };
  const auto first = place(2);
  const auto used = place(1);
  place(2);
  tested->request_free(used->handle);
  tested->free(first->handle, {});
  EXPECT_FALSE(place(3));
  EXPECT_TRUE(tested->usage().moved->empty());
  tested->complete_free(used->handle);
  EXPECT_TRUE(place(4));
  EXPECT_EQ(tested->usage().moved->size(), 1u);
}

/// The list of blocks as the original has it.
class SlowVmmRange {
 public:
  SlowVmmRange(bool compacts, Bytes capacity) : compacts_(compacts), capacity_(capacity) {}

  bool allocate(int id, Bytes size) {
    size = round_up(size, 256);
    if (place(id, size)) return true;
    extend(size);
    return place(id, size);
  }
  void free(int id) {
    for (SlowBlock& block : blocks_) {
      if (block.id == id) block.id = kFree;
    }
    join();
  }
  std::map<int, Bytes> places() const {
    std::map<int, Bytes> found;
    Bytes at = 0;
    for (const SlowBlock& block : blocks_) {
      if (block.id != kFree) found[block.id] = at;
      at += block.size;
    }
    return found;
  }
  Bytes held() const { return held_; }
  Bytes moved() const { return moved_; }

 private:
  static constexpr int kFree = -1;
  struct SlowBlock {
    Bytes size = 0;
    int id = kFree;
  };

  bool place(int id, Bytes size) {
    auto best = blocks_.end();
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at) {
      const bool fits = at->id == kFree && at->size >= size;
      if (fits && (best == blocks_.end() || at->size < best->size)) best = at;
    }
    if (best == blocks_.end()) return false;
    const Bytes rest = best->size - size;
    if (best->size > 2 * size || rest > 256) {
      blocks_.insert(std::next(best), {rest, kFree});
      best->size = size;
    }
    best->id = id;
    return true;
  }
  Bytes tail() const {
    return blocks_.empty() || blocks_.back().id != kFree ? 0 : blocks_.back().size;
  }
  void extend(Bytes size) {
    if (!compacts_) return void(map(size - tail()));
    if (map(size) || blocks_.empty()) return;
    const auto before = places();
    const auto used = std::stable_partition(
        blocks_.begin(), blocks_.end(), [](const SlowBlock& block) { return block.id != kFree; });
    static_cast<void>(used);
    join();
    for (const auto& [id, at] : places()) {
      if (before.at(id) != at) moved_ += size_of(id);
    }
    if (tail() < size) map(size - tail());
  }
  bool map(Bytes size) {
    const Bytes bytes = round_up(size + 256, 2 * kMiB);
    if (held_ + bytes > capacity_) return false;
    held_ += bytes;
    blocks_.push_back({bytes, kFree});
    join();
    return true;
  }
  void join() {
    for (auto at = blocks_.begin(); at != blocks_.end();) {
      const auto next = std::next(at);
      if (next == blocks_.end() || at->id != kFree || next->id != kFree) {
        at = next;
      } else {
        at->size += next->size;
        blocks_.erase(next);
      }
    }
  }
  Bytes size_of(int id) const { return std::ranges::find(blocks_, id, &SlowBlock::id)->size; }

  bool compacts_;
  Bytes capacity_;
  Bytes held_ = 0;
  Bytes moved_ = 0;
  std::list<SlowBlock> blocks_;
};

/// Places of live blocks agree after every step. Returns the bytes moved.
Bytes compare_with_list(bool compacts, std::uint64_t seed) {
  constexpr Bytes kCapacity = 40 * kMiB;
  SimulatedDevice device({.capacity = kCapacity});
  const auto tested =
      make_strategy(parse_strategy(compacts ? "auto-growth-vmm" + kCompacting : "auto-growth-vmm"),
                    {.device = device, .capacity = kCapacity});
  SlowVmmRange slow(compacts, kCapacity);
  std::mt19937_64 random(seed);
  std::map<int, Placement> live;
  Address base = 0;
  for (int step = 0; step < 1500; ++step) {
    if (!live.empty() && random() % 2 != 0) {
      const auto victim = std::next(live.begin(), static_cast<int>(random() % live.size()));
      tested->free(victim->second.handle, {});
      slow.free(victim->first);
      live.erase(victim);
    } else {
      const Bytes size = 1 + random() % (Bytes{1} << (8 + random() % 16));
      const auto got = tested->allocate({.size = size});
      EXPECT_EQ(slow.allocate(step, size), got.has_value());
      if (base == 0) base = got->address;
      if (compacts) {
        for (const Placement& there : *tested->usage().moved) {
          for (auto& [id, block] : live) {
            if (block.handle == there.handle) block = there;
          }
        }
      }
      if (got) live[step] = *got;
    }
    std::map<int, Bytes> places;
    for (const auto& [id, block] : live) places[id] = block.address - base;
    EXPECT_EQ(places, slow.places()) << "seed " << seed << " step " << step;
    EXPECT_EQ(device.usage().held, slow.held());
    if (testing::Test::HasFailure()) break;
  }
  return slow.moved();
}

TEST(AutoGrowthVmm, AgreesWithTheListOfTheOriginalOnRandomTraces) {
  Bytes moved = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (const bool compacts : {false, true}) moved += compare_with_list(compacts, seed);
  }
  EXPECT_GT(moved, 0u);
}

}  // namespace
}  // namespace memreplay
