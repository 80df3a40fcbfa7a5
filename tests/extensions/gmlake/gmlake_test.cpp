#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kStitching = "gmlake:frag_limit=6MiB";

/// A unit is a chunk of 2 MiB. Segments of requests under 10 MiB are 20 MiB long.
MemoryPicture picture(std::string_view strategy, std::optional<Bytes> capacity = {}) {
  return MemoryPicture(strategy, capacity, 2 * kMiB);
}

TEST(Gmlake, LargeRequestsTakeTheBestFitAndLeaveTheRest) {
  MemoryPicture m = picture(kStitching);
  m.alloc('A', 2).alloc('B', 1).alloc('C', 4).free('A').alloc('D', 1);
  EXPECT_EQ(m.picture(), "D.BCCCC...");
}

TEST(Gmlake, SmallRequestsShareSegmentsOfTwoMebibytes) {
  MemoryPicture m("gmlake", std::nullopt, 512);
  m.alloc('A', 1).alloc('B', 2048).alloc('C', 2047);
  EXPECT_EQ(m.device().held, 2 * kMiB);
  m.alloc('D', 2);
  EXPECT_EQ(m.device().held, 4 * kMiB);
}

TEST(Gmlake, FreePiecesAreStitchedBeforeTheDeviceIsAsked) {
  MemoryPicture m = picture(kStitching);
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  EXPECT_EQ(m.device().held, 20 * kMiB);
  EXPECT_EQ(m.device().allocs, 1u);
  EXPECT_EQ(m.device().maps, 4u);
  EXPECT_EQ(m.counter("stitches"), 1);
  EXPECT_EQ(m.counter("pieces_per_100_stitches"), 200);
  EXPECT_EQ(m.counter("virtual_mapped_bytes"), 8 << 20);
  EXPECT_EQ(m.strategy().free_space().total, 0u);
}

TEST(Gmlake, TheLastPieceIsCutToTheSize) {
  MemoryPicture m = picture(kStitching);
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 3);
  EXPECT_EQ(m.strategy().free_space().total, 2 * kMiB);
}

TEST(Gmlake, BelowTheLimitNothingIsStitched) {
  MemoryPicture m = picture("gmlake:frag_limit=10MiB");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  EXPECT_EQ(m.device().allocs, 2u);
  EXPECT_EQ(m.counter("stitches"), 0);
}

TEST(Gmlake, AtLevelOneTheDeviceIsAskedFirst) {
  for (const auto& [level, capacity, stitches] :
       {std::tuple{"0", 20, 1}, {"1", 20, 0}, {"1", 10, 1}, {"2", 10, 1}}) {
    MemoryPicture m = picture(std::string(kStitching) + ",level=" + level, capacity);
    m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
    EXPECT_EQ(m.ooms(), 0);
    EXPECT_EQ(m.counter("stitches"), stitches) << level << ' ' << capacity;
  }
}

TEST(Gmlake, AStitchedBlockServesAgainWhileAllItsChunksAreFree) {
  MemoryPicture m = picture(kStitching);
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  m.free('E').alloc('F', 3);
  EXPECT_EQ(m.counter("stitches"), 1);
  EXPECT_EQ(m.counter("stitched_reuses"), 1);
  m.alloc('G', 1);
  EXPECT_EQ(m.strategy().free_space().total, 0u);
  m.free('F').alloc('H', 4);
  EXPECT_EQ(m.counter("stitched_reuses"), 1) << "G has broken it";
}

TEST(Gmlake, AStitchedBlockFarLargerThanTheRequestDoesNotServe) {
  MemoryPicture m = picture("gmlake:frag_limit=6MiB,reuse_limit=1");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  m.free('E').alloc('F', 3);
  EXPECT_EQ(m.counter("stitched_reuses"), 0);
  EXPECT_EQ(m.counter("stitches"), 2);
}

TEST(Gmlake, StitchedAddressesAboveTheLimitAreGivenUp) {
  MemoryPicture m = picture("gmlake:frag_limit=6MiB,gc_limit=6MiB");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  EXPECT_EQ(m.counter("virtual_mapped_bytes"), 8 << 20);
  m.free('E');
  EXPECT_EQ(m.counter("virtual_mapped_bytes"), 0);
  EXPECT_EQ(m.device().unmaps, 4u);
}

TEST(Gmlake, EmptyingTheCacheTakesStitchedBlocksApart) {
  MemoryPicture m = picture(kStitching);
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 4).free('A').free('C').alloc('E', 4);
  m.free('B').free('D').free('E').empty_cache();
  EXPECT_EQ(m.device().held, 0u);
  EXPECT_EQ(m.picture(), "");
}

TEST(Gmlake, ARequestsOwnAlignmentIsKept) {
  MemoryPicture m("gmlake", std::nullopt, 512);
  m.alloc('A', 1).alloc('B', 1, 4096).alloc('C', 4097, 8 * kMiB).alloc('D', 1, 8 * kMiB);
  EXPECT_EQ(m.ooms(), 0);
}

TEST(Gmlake, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(picture("gmlake:chunk=3MiB"), UsageError);
  EXPECT_THROW(picture("gmlake:chunk=4MiB"), UsageError);
  EXPECT_THROW(picture("gmlake:reuse_limit=0"), UsageError);
  EXPECT_THROW(picture("gmlake:level=3"), UsageError);
}

TEST(Gmlake, WithoutStitchingItIsPyTorchWithLargeRequestsRounded) {
  for (const std::optional<Bytes> capacity : {std::optional<Bytes>{}, {300 * kMiB}}) {
    SimulatedDevice device({.capacity = capacity}), torch_device({.capacity = capacity});
    const auto tested = make_strategy(parse_strategy("gmlake:frag_limit=1TiB"), {.device = device});
    const auto torch = make_strategy(parse_strategy("torch"), {.device = torch_device});
    std::vector<std::pair<Handle, Handle>> live;
    std::mt19937_64 random(3);
    for (int step = 0; step < 20000; ++step) {
      if (!live.empty() && random() % 100 < 48) {
        const std::size_t victim = random() % live.size();
        tested->free(live[victim].first, {});
        torch->free(live[victim].second, {});
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      Request request{.size = 1 + random() % (Bytes{1} << (8 + random() % 18)),
                      .stream = static_cast<StreamIndex>(random() % 2)};
      const auto got = tested->allocate(request);
      if (request.size > kMiB) request.size = round_up(request.size, 2 * kMiB);
      const auto expected = torch->allocate(request);
      ASSERT_EQ(got.has_value(), expected.has_value());
      if (!got) continue;
      ASSERT_EQ(got->address, expected->address);
      live.emplace_back(got->handle, expected->handle);
    }
    EXPECT_EQ(device.usage().peak_held, torch_device.usage().peak_held);
    EXPECT_EQ(device.usage().allocs, torch_device.usage().allocs);
    EXPECT_EQ(tested->usage().oom_retries, torch->usage().oom_retries);
    EXPECT_EQ(tested->usage().syncs, torch->usage().syncs);
  }
}

/// Units are chunks. Every question is answered from the list of live blocks.
class SlowGmlake final : public SlowModel {
 public:
  SlowGmlake(Bytes frag_limit, int level, std::optional<Bytes> capacity)
      : frag_limit_(frag_limit / kChunk), level_(level), capacity_(capacity) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes size = (request.size + kChunk - 1) / kChunk;
    if (const auto at = cached(size, request.stream)) return *at * kChunk;
    if (level_ == 0) {
      if (const auto at = stitch(size, request.stream)) return *at * kChunk;
    }
    if (grow(size, request.stream)) return *cached(size, request.stream) * kChunk;
    if (level_ == 1) {
      if (const auto at = stitch(size, request.stream)) return *at * kChunk;
    }
    empty_cache();
    if (grow(size, request.stream)) return *cached(size, request.stream) * kChunk;
    if (const auto at = stitch(size, request.stream)) return *at * kChunk;
    return std::nullopt;
  }

  void free(Bytes address, const FreeOrigin&) override {
    const auto block = live_.find(address / kChunk);
    for (const Bytes chunk : block->second) busy_.erase(chunk);
    for (Range& range : ranges_) {
      if (range.at == address / kChunk) range.live = false;
    }
    live_.erase(block);
  }

  void empty_cache() override {
    std::erase_if(ranges_, [](const Range& range) { return !range.live; });
    std::erase_if(segments_, [&](const Segment& segment) {
      for (Bytes chunk = segment.at; chunk < segment.at + segment.size; ++chunk) {
        if (busy_.contains(chunk)) return false;
        for (const Range& range : ranges_) {
          if (std::find(range.chunks.begin(), range.chunks.end(), chunk) != range.chunks.end()) {
            return false;
          }
        }
      }
      held_ -= segment.size;
      return true;
    });
  }

  std::optional<Bytes> reserved() const override { return held_ * kChunk; }

 private:
  static constexpr Bytes kChunk = 2 * kMiB;
  struct Segment {
    Bytes at, size;
    StreamIndex stream;
  };
  struct Range {
    Bytes at;
    std::vector<Bytes> chunks;
    StreamIndex stream;
    bool live;
  };

  /// Maximal free runs of a stream, smallest and lowest first.
  std::vector<std::pair<Bytes, Bytes>> holes(StreamIndex stream) const {
    std::vector<std::pair<Bytes, Bytes>> found;
    for (const Segment& segment : segments_) {
      if (segment.stream != stream) continue;
      Bytes run = 0;
      for (Bytes chunk = segment.at; chunk <= segment.at + segment.size; ++chunk) {
        if (chunk < segment.at + segment.size && !busy_.contains(chunk)) {
          ++run;
        } else {
          if (run != 0) found.emplace_back(run, chunk - run);
          run = 0;
        }
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Bytes take(Bytes at, const std::vector<Bytes>& chunks) {
    busy_.insert(chunks.begin(), chunks.end());
    live_[at] = chunks;
    return at;
  }

  std::optional<Bytes> cached(Bytes size, StreamIndex stream) {
    for (const auto& [run, at] : holes(stream)) {
      if (run < size) continue;
      std::vector<Bytes> chunks;
      for (Bytes i = 0; i < size; ++i) chunks.push_back(at + i);
      return take(at, chunks);
    }
    Range* best = nullptr;
    for (Range& range : ranges_) {
      const bool broken = std::any_of(range.chunks.begin(), range.chunks.end(),
                                      [&](Bytes chunk) { return busy_.contains(chunk); });
      if (broken || range.stream != stream || range.chunks.size() < size ||
          range.chunks.size() > 10 * size) {
        continue;
      }
      if (!best || range.chunks.size() < best->chunks.size()) best = &range;
    }
    if (!best) return std::nullopt;
    best->live = true;
    return take(best->at, {best->chunks.begin(), best->chunks.begin() + size});
  }

  bool grow(Bytes size, StreamIndex stream) {
    const Bytes segment = size < 5 ? 10 : size;
    if (capacity_ && (held_ + segment) * kChunk > *capacity_) return false;
    segments_.push_back({next_, segment, stream});
    next_ += segment;
    held_ += segment;
    return true;
  }

  std::optional<Bytes> stitch(Bytes size, StreamIndex stream) {
    if (size < frag_limit_) return std::nullopt;
    const auto free = holes(stream);
    std::vector<Bytes> chunks;
    for (auto hole = free.rbegin(); hole != free.rend(); ++hole) {
      for (Bytes i = 0; i < hole->first && chunks.size() < size; ++i) {
        chunks.push_back(hole->second + i);
      }
    }
    if (chunks.size() < size) return std::nullopt;
    ranges_.push_back({next_, chunks, stream, true});
    next_ += size;
    return take(ranges_.back().at, chunks);
  }

  Bytes frag_limit_;
  int level_;
  std::optional<Bytes> capacity_;
  std::vector<Segment> segments_;
  std::vector<Range> ranges_;
  std::map<Bytes, std::vector<Bytes>> live_;
  std::set<Bytes> busy_;
  Bytes next_ = 0;
  Bytes held_ = 0;
};

TEST(Gmlake, AgreesWithASlowModelOnRandomTraces) {
  for (const int level : {0, 1, 2}) {
    for (const std::optional<Bytes> capacity : {std::optional<Bytes>{}, {240 * kMiB}}) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        SlowGmlake model(6 * kMiB, level, capacity);
        expect_same_placements(std::string(kStitching) + ",level=" + std::to_string(level), model,
                               {.seed = seed,
                                .steps = 5000,
                                .live_at_most = 16,
                                .capacity = capacity,
                                .smallest = 1.2 * kMiB,
                                .largest = 40 * kMiB,
                                .streams = 2,
                                .empty_caches = true});
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Gmlake, TheLedgerAgreesWhileBlocksAreStitchedAtRandom) {
  for (const Bytes capacity : {100 * kMiB, 240 * kMiB}) {
    Ledger ledger("gmlake");
    SimulatedDevice simulated({.capacity = capacity});
    HeardDevice device(simulated, ledger);
    const auto tested =
        make_strategy(parse_strategy("gmlake:frag_limit=3MiB,gc_limit=300MiB"), {.device = device});
    std::vector<Placement> live;
    std::mt19937_64 random(9);
    Bytes allocated = 0;
    for (std::uint64_t step = 0; step < 20000; ++step) {
      if (live.size() > 20 || (!live.empty() && random() % 2)) {
        const std::size_t victim = random() % live.size();
        ledger.freed(step, live[victim]);
        tested->free(live[victim].handle, {});
        allocated -= live[victim].size;
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        const Request request{.size = 1 + random() % (Bytes{1} << (15 + random() % 11))};
        const auto placement = tested->allocate(request);
        if (!placement) continue;
        ledger.placed(step, request, *placement);
        allocated += placement->size;
        live.push_back(*placement);
      }
      ASSERT_EQ(tested->free_space().total, simulated.usage().held - allocated);
    }
    EXPECT_GT(counter_of(*tested, "stitches"), 20);
  }
}

}  // namespace
}  // namespace memreplay
