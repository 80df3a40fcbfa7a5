#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

/// Pictures count in units of the alignment.
MemoryPicture growing(const std::string& options, std::optional<Bytes> units = {}) {
  return MemoryPicture("auto-growth" + options, units, 256);
}

TEST(AutoGrowth, AChunkIsAsLargeAsItsRequest) {
  auto m = growing("");
  m.alloc('A', 3).alloc('B', 2);
  EXPECT_EQ(m.picture(), "AAA|BB");
}

TEST(AutoGrowth, ARequestIsCutFromTheHighEnd) {
  auto m = growing("");
  m.alloc('A', 6).free('A').alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "...CBB");
}

TEST(AutoGrowth, TheSmallestHoleServesAndFreedNeighboursJoin) {
  auto m = growing("");
  m.alloc('A', 6).alloc('B', 3).free('A').free('B').alloc('C', 2).alloc('D', 2);
  EXPECT_EQ(m.picture(), "....DD|.CC");
  m.free('C').alloc('E', 3);
  EXPECT_EQ(m.picture(), "....DD|EEE");
}

TEST(AutoGrowth, IdleChunksAreReturnedWhereThereIsNoRoom) {
  auto m = growing("", 8);
  m.alloc('A', 3).alloc('B', 3).free('A').alloc('C', 4);
  EXPECT_EQ(m.picture(), "BBB|CCCC");
}

TEST(AutoGrowth, OrAtEveryFree) {
  auto m = growing(":free_idle_chunk=true");
  m.alloc('A', 3).alloc('B', 2).free('A');
  EXPECT_EQ(m.picture(), "BB");
}

TEST(AutoGrowth, OrBeforeAChunkIsAskedFor) {
  auto m = growing(":free_when_no_cache_hit=true");
  m.alloc('A', 3).free('A').alloc('B', 4);
  EXPECT_EQ(m.picture(), "BBBB");
}

TEST(AutoGrowth, AnEmptiedCacheIsItsIdleChunks) {
  auto m = growing("");
  m.alloc('A', 3).alloc('B', 2).free('A').empty_cache();
  EXPECT_EQ(m.picture(), "BB");
}

TEST(AutoGrowth, StreamsShareNoChunk) {
  SimulatedDevice device;
  const auto tested = make_strategy(parse_strategy("auto-growth"), {.device = device});
  const auto first = tested->allocate({.size = 512, .stream = 1});
  tested->free(first->handle, {});
  const auto other = tested->allocate({.size = 512, .stream = 2});
  EXPECT_NE(first->address, other->address);
  EXPECT_EQ(tested->allocate({.size = 512, .stream = 1})->address, first->address);
}

struct SlowGrowthShape {
  Bytes chunk = 0;
  bool at_free = false;
  bool at_miss = false;
  Bytes alignment = 256;
};

/// Chunks of blocks, as a list of lists; every search looks at all of them.
class SlowGrowth final : public SlowModel {
 public:
  SlowGrowth(const SlowGrowthShape& shape, std::optional<Bytes> capacity)
      : shape_(shape), device_({.capacity = capacity, .granularity = 1}) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = (request.size + shape_.alignment - 1) / shape_.alignment * shape_.alignment;
    const Bytes alignment = std::max(shape_.alignment, request.alignment);
    Block* best = nullptr;
    for (auto& [from, chunk] : chunks_) {
      if (chunk.stream != request.stream) continue;
      for (auto& [at, block] : chunk.blocks) {
        if (block.used || block.size < size || place(at, block.size, size, alignment) < at)
          continue;
        if (best == nullptr || block.size < best->size) best = &block;
      }
    }
    if (best == nullptr) best = grow(std::max(size, shape_.chunk), request.stream);
    if (best == nullptr) return std::nullopt;
    for (auto& [from, chunk] : chunks_) {
      for (auto& [at, block] : chunk.blocks) {
        if (&block != best) continue;
        const Bytes from_here = at, whole = block.size;
        const Bytes to = place(at, whole, size, alignment);
        chunk.blocks.erase(from_here);
        if (to > from_here) chunk.blocks[from_here] = {to - from_here, false};
        chunk.blocks[to] = {size, true};
        const Bytes rest = from_here + whole - to - size;
        if (rest > 0) chunk.blocks[to + size] = {rest, false};
        return to;
      }
    }
    return std::nullopt;
  }

  void free(Bytes address, const FreeOrigin&) override {
    for (auto& [from, chunk] : chunks_) {
      const auto found = chunk.blocks.find(address);
      if (found == chunk.blocks.end()) continue;
      found->second.used = false;
      for (auto at = chunk.blocks.begin(); at != chunk.blocks.end();) {
        const auto next = std::next(at);
        if (next == chunk.blocks.end() || at->second.used || next->second.used) {
          at = next;
        } else {
          at->second.size += next->second.size;
          chunk.blocks.erase(next);
        }
      }
      if (shape_.at_free) return_idle(chunk.stream);
      return;
    }
  }

  void empty_cache() override { return_idle({}); }
  std::optional<Bytes> reserved() const override { return device_.usage().held; }

 private:
  struct Block {
    Bytes size = 0;
    bool used = false;
  };
  struct SlowChunk {
    StreamIndex stream = 0;
    std::map<Bytes, Block> blocks;  ///< by address
  };
  static constexpr Address kFirst = Address{1} << 44;

  static Bytes place(Bytes from, Bytes whole, Bytes size, Bytes alignment) {
    return (from + whole - size) / alignment * alignment;
  }

  Block* grow(Bytes size, StreamIndex stream) {
    if (shape_.at_miss) return_idle(stream);
    auto region = device_.obtain(size);
    if (!region && !shape_.at_miss && return_idle(stream)) region = device_.obtain(size);
    if (!region && return_idle({})) region = device_.obtain(size);
    if (!region) return nullptr;
    SlowChunk& chunk = chunks_[*region - kFirst];
    chunk.stream = stream;
    return &(chunk.blocks[*region - kFirst] = {size, false});
  }

  bool return_idle(std::optional<StreamIndex> stream) {
    return std::erase_if(chunks_, [&](const auto& entry) {
             const auto& [from, chunk] = entry;
             const bool idle = chunk.blocks.size() == 1 && !chunk.blocks.begin()->second.used;
             if (!idle || (stream && *stream != chunk.stream)) return false;
             device_.give_back(from + kFirst);
             return true;
           }) > 0;
  }

  SlowGrowthShape shape_;
  SimulatedDevice device_;
  std::map<Bytes, SlowChunk> chunks_;  ///< by address
};

TEST(AutoGrowth, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<SlowGrowthShape>> cases = {
      {"auto-growth", {}, {}},
      {"auto-growth", {}, 20'000},
      {"auto-growth:auto_growth_chunk_size_in_mb=1", {.chunk = kMiB}, 5 * kMiB},
      {"auto-growth:free_idle_chunk=true", {.at_free = true}, 20'000},
      {"auto-growth:free_when_no_cache_hit=true", {.at_miss = true}, 20'000}};
  expect_agreement<SlowGrowth>(
      cases, 8, {.largest = 3000, .streams = 3, .aligned = false, .empty_caches = true});
}

TEST(AutoGrowth, AgreesOnAlignedRequestsInLargeChunks) {
  const std::vector<ModelCase<SlowGrowthShape>> cases = {
      {"auto-growth:alignment=16", {.alignment = 16}, {}},
      {"auto-growth:auto_growth_chunk_size_in_mb=1,alignment=2",
       {.chunk = kMiB, .alignment = 2},
       {}}};
  expect_agreement<SlowGrowth>(cases, 8, {.largest = 300'000, .streams = 2});
}

}  // namespace
}  // namespace memreplay
