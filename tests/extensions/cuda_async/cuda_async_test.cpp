#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/random_play.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/driver_device.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

/// Chunks of 8 units, the rest in whole ones.
std::string spec(std::string_view more = "") {
  return fmt::format("cuda-async:chunk=8,granularity=2,align=1{}", more);
}
constexpr std::string_view kAllOff =
    ",reuse_follow_event_dependencies=false,reuse_allow_opportunistic=false,"
    "reuse_allow_internal_dependencies=false";

TEST(CudaAsync, ItGrowsByChunksAndByMoreForLargeRequests) {
  MemoryPicture m(spec());
  m.alloc('A', 1).alloc('B', 9);
  EXPECT_EQ(m.picture(), "A.......|BBBBBBBBB.");
}

TEST(CudaAsync, TheSmallestBlockThatFitsServesTheLowestOfEquals) {
  MemoryPicture m(spec());
  m.alloc('A', 3).alloc('B', 1).alloc('C', 2).alloc('D', 2).free('A').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "...BEEDD");
  m.free('E').free('B').alloc('F', 6);
  EXPECT_EQ(m.picture(), "FFFFFFDD");
}

TEST(CudaAsync, WhatWasFreedByTheStreamItselfServesFirst) {
  MemoryPicture m(spec());
  m.on(0).alloc('A', 2).alloc('B', 3).alloc('C', 1).alloc('D', 2).free('A');
  m.on(1).free('D').on(0).alloc('E', 1);
  EXPECT_EQ(m.picture(), "E.BBBC..");
  m.on(1).alloc('F', 1);
  EXPECT_EQ(m.picture(), "E.BBBCF.");
}

TEST(CudaAsync, FinishedWorkOfAnotherStreamIsReusedWithoutAWait) {
  MemoryPicture m(spec());
  m.on(0).alloc('A', 8).free('A').on(1).alloc('B', 8);
  EXPECT_EQ(m.picture(), "BBBBBBBB");
  EXPECT_EQ(m.stream_waits(), 0u);
  EXPECT_EQ(m.counter("reuses_done"), 1);
}

TEST(CudaAsync, UnfinishedWorkIsReusedAfterAWait) {
  MemoryPicture m(spec(",completion=never"));
  m.on(0).alloc('A', 8).free('A').on(1).alloc('B', 8);
  EXPECT_EQ(m.picture(), "BBBBBBBB");
  EXPECT_EQ(m.stream_waits(), 1u);
}

TEST(CudaAsync, WhatWasFreedBeforeAWaitNeedsNoOther) {
  for (const bool follow : {true, false}) {
    MemoryPicture m(spec(",completion=never,reuse_follow_event_dependencies=") +
                    (follow ? "true" : "false"));
    m.on(0).alloc('A', 3).alloc('B', 2).alloc('C', 3).free('A').free('C');
    m.on(1).alloc('D', 3);  // the lower one, whose free came first
    EXPECT_EQ(m.picture(), "DDDBB...");
    m.alloc('E', 3);  // its free came after what was waited for
    EXPECT_EQ(m.stream_waits(), 2u);
    m.on(0).free('B').on(1).alloc('F', 2);
    EXPECT_EQ(m.stream_waits(), 3u);
    EXPECT_EQ(m.counter("reuses_followed"), 0);
  }
  MemoryPicture m(spec(",completion=never"));
  m.on(0).alloc('A', 2).alloc('B', 2).alloc('C', 4).free('A').free('C');
  m.on(1).alloc('D', 4).alloc('E', 2);
  EXPECT_EQ(m.stream_waits(), 1u);
  EXPECT_EQ(m.counter("reuses_followed"), 1);
}

TEST(CudaAsync, WithAllSwitchesOffStreamsKeepTheirMemoryUntilASynchronisation) {
  MemoryPicture m(spec(",threshold=max,sync_every=markers") + std::string(kAllOff));
  m.on(0).alloc('A', 8).free('A').on(1).alloc('B', 8);
  EXPECT_EQ(m.picture(), "........|BBBBBBBB");
  m.marker().alloc('C', 8);
  EXPECT_EQ(m.picture(), "CCCCCCCC|BBBBBBBB");
}

TEST(CudaAsync, WorkIsOverAfterTheLag) {
  MemoryPicture m(spec(",completion=lag:2,reuse_allow_internal_dependencies=false"));
  m.on(0).alloc('A', 8).free('A').on(1).alloc('B', 8).alloc('C', 8);
  EXPECT_EQ(m.picture(), "CCCCCCCC|BBBBBBBB");
}

TEST(CudaAsync, NeighboursFreedByDifferentStreamsJoinWhenTheirWorkIsOver) {
  MemoryPicture m(spec(",completion=lag:3"));
  m.on(0).alloc('A', 4).alloc('B', 4).free('A').on(1).free('B');
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u);
  m.on(0).alloc('C', 9).free('C').alloc('D', 9);
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u);  // and the rest of the second region
  m.alloc('E', 8);
  EXPECT_EQ(m.picture(), "EEEEEEEE|DDDDDDDDD.");
}

TEST(CudaAsync, ASynchronisationReturnsWhatIsUnusedAboveTheThreshold) {
  MemoryPicture m(spec(",threshold=8,sync_every=markers"));
  m.alloc('A', 8).alloc('B', 8).alloc('C', 8).free('A').free('C').marker();
  EXPECT_EQ(m.picture(), "BBBBBBBB");
  m.alloc('A', 8).free('A').free('B').marker();
  EXPECT_EQ(m.device().held, 8u);  // the lower one
}

TEST(CudaAsync, TheHighestUnusedChunkGoesFirst) {
  MemoryPicture m(spec(",threshold=16,sync_every=markers"));
  m.alloc('A', 8).alloc('B', 8).alloc('C', 8).alloc('D', 8);
  m.free('A').free('B').free('C').marker();
  EXPECT_EQ(m.picture(), "........|DDDDDDDD");
}

TEST(CudaAsync, WithTheLargestThresholdASynchronisationReturnsNothing) {
  MemoryPicture m(spec(",threshold=max,sync_every=1"));
  m.alloc('A', 8).free('A');
  EXPECT_EQ(m.picture(), "........");
}

TEST(CudaAsync, EveryNthEventSynchronises) {
  MemoryPicture m(spec(",sync_every=4"));
  m.alloc('A', 8).free('A').alloc('B', 8);
  EXPECT_EQ(m.device().frees, 0u);
  m.free('B');
  EXPECT_EQ(m.device().frees, 1u);
  EXPECT_EQ(m.counter("synchronisations"), 1);
}

TEST(CudaAsync, AFullDeviceMakesItReturnWhatIsUnusedAndTryAgain) {
  MemoryPicture m(spec(), 20);
  m.alloc('A', 8).alloc('B', 8).free('A').alloc('C', 12);
  EXPECT_EQ(m.picture(), "BBBBBBBB|CCCCCCCCCCCC");
  EXPECT_EQ(m.oom_retries(), 1u);
  EXPECT_EQ(m.syncs(), 1u);
  m.alloc('D', 9);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(CudaAsync, EmptyCacheReturnsAllThatIsUnusedWhateverTheThreshold) {
  MemoryPicture m(spec(",threshold=max"));
  m.alloc('A', 8).alloc('B', 8).free('A').empty_cache();
  EXPECT_EQ(m.picture(), "BBBBBBBB");
}

TEST(CudaAsync, ARequestsOwnAlignmentLeavesTheBytesBeforeItFree) {
  MemoryPicture m(spec());
  m.alloc('A', 1).alloc('B', 2, 4).alloc('C', 3);
  EXPECT_EQ(m.picture(), "ACCCBB..");
}

TEST(CudaAsync, OnOneStreamTheSwitchesChangeNothing) {
  const auto peak_and_addresses = [](const std::string& options) {
    SimulatedDevice device({.capacity = 20000, .granularity = 1});
    const auto strategy =
        make_strategy(parse_strategy(spec(",completion=lag:7" + options)), {.device = device});
    std::mt19937_64 random(9);
    std::vector<Handle> live;
    std::vector<Address> seen;
    for (int step = 0; step < 4000; ++step) {
      if (live.empty() || random() % 2) {
        const auto placement = strategy->allocate({.size = 1 + random() % 300});
        seen.push_back(placement ? placement->address : 0);
        if (placement) live.push_back(placement->handle);
      } else {
        const std::size_t victim = random() % live.size();
        strategy->free(live[victim], {});
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      }
    }
    seen.push_back(device.usage().peak_held);
    return seen;
  };
  EXPECT_EQ(peak_and_addresses(""), peak_and_addresses(std::string(kAllOff)));
}

TEST(CudaAsync, ValuesThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("cuda-async:sync_every=0"), UsageError);
  EXPECT_THROW(MemoryPicture("cuda-async:sync_every=often"), UsageError);
  EXPECT_THROW(MemoryPicture("cuda-async:threshold=most"), UsageError);
  EXPECT_THROW(MemoryPicture("cuda-async:chunk=0"), UsageError);
}

TEST(CudaAsync, WithAllSwitchesOffNoAddressChangesItsStream) {
  std::map<Address, StreamIndex> owners;
  play_at_random(spec(kAllOff), {.streams = 3}, [&](const Played& played) {
    if (!played.placement) return;
    const Address from = played.placement->address;
    for (Address at = from; at < from + played.placement->size; ++at) {
      ASSERT_EQ(owners.emplace(at, played.request->stream).first->second, played.request->stream);
    }
  });
}

TEST(CudaAsync, AfterASynchronisationNothingUnusedIsHeldAboveTheThreshold) {
  play_at_random(
      "cuda-async:chunk=3000,granularity=2,align=1,threshold=6000,sync_every=1", {.streams = 3},
      [](const Played& played) {
        if (played.device.usage().held <= 6000) return;
        for (const auto& segment : played.strategy.memory_state().segments) {
          ASSERT_FALSE(segment.blocks.size() == 1 && segment.blocks[0].state == BlockState::free);
        }
      });
}

/// Pieces by address in one vector, gone through for everything.
class SlowCudaAsync final : public SlowModel {
 public:
  struct Options {
    Bytes threshold = 0;
    bool follow = true;
    bool opportunistic = true;
    bool internal = true;
    std::optional<std::uint64_t> lag = 0;  ///< unset: never
    std::uint64_t sync_every = 0;
  };
  static constexpr Bytes kChunk = 1000;
  static constexpr Bytes kGranularity = 64;

  SlowCudaAsync(SlowDevice device, const Options& options) : device_(device), options_(options) {}

  std::optional<Bytes> allocate(const Request& request) override {
    tick();
    auto at = try_to_serve(request);
    if (!at) {
      synchronise(0);
      at = try_to_serve(request);
    }
    end();
    return at;
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    tick();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      Piece& piece = pieces_[i];
      if (piece.at != address || !piece.used) continue;
      piece = {piece.at, piece.size, piece.region, giver.stream, now_, false, false};
      piece.open = options_.opportunistic && options_.lag && *options_.lag == 0;
      join(i);
      break;
    }
    end();
  }

  void empty_cache() override { synchronise(0); }
  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Piece {
    Bytes at;
    Bytes size;
    Bytes region;
    int owner;  ///< -1: several
    std::uint64_t freed;
    bool open;
    bool used;
  };

  void tick() {
    ++now_;
    while (options_.opportunistic && options_.lag) {
      const auto oldest = oldest_closed();
      if (!oldest || now_ - pieces_[*oldest].freed < *options_.lag) return;
      pieces_[*oldest].open = true;
      join(*oldest);
    }
  }
  std::optional<std::size_t> oldest_closed() const {
    std::optional<std::size_t> oldest;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].used || pieces_[i].open) continue;
      if (!oldest || pieces_[i].freed < pieces_[*oldest].freed) oldest = i;
    }
    return oldest;
  }
  void end() {
    if (options_.sync_every && now_ % options_.sync_every == 0) synchronise(options_.threshold);
  }

  // With the one below, then with the one above.
  void join(std::size_t i) {
    if (i > 0 && mergeable(i - 1)) merge(--i);
    if (i + 1 < pieces_.size() && mergeable(i)) merge(i);
  }
  bool mergeable(std::size_t i) const {
    const Piece& a = pieces_[i];
    const Piece& b = pieces_[i + 1];
    return !a.used && !b.used && a.region == b.region && (a.owner == b.owner || (a.open && b.open));
  }
  void merge(std::size_t i) {
    const Piece b = pieces_[i + 1];
    Piece& a = pieces_[i];
    a.size += b.size;
    if (a.owner != b.owner) a.owner = -1;
    a.open = a.open && b.open;
    a.freed = std::max(a.freed, b.freed);
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }

  template <typename Usable>
  std::optional<std::size_t> best(Bytes size, Bytes alignment, const Usable& usable) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const Piece& piece = pieces_[i];
      if (piece.used || !usable(piece)) continue;
      if (round_up(piece.at, alignment) + size > piece.at + piece.size) continue;
      if (!best || piece.size < pieces_[*best].size) best = i;
    }
    return best;
  }

  std::optional<Bytes> try_to_serve(const Request& request) {
    const Bytes size = request.size;
    const Bytes alignment = request.alignment;
    const int own = request.stream;
    auto found = best(size, alignment, [&](const Piece& p) { return p.owner == own; });
    if (!found && options_.follow) {
      found = best(size, alignment, [&](const Piece& p) {
        return p.owner >= 0 && waited_for_.contains({own, p.owner}) &&
               waited_for_.at({own, p.owner}) >= p.freed;
      });
    }
    if (!found) found = best(size, alignment, [&](const Piece& p) { return p.open; });
    if (!found && options_.internal) {
      found = best(size, alignment, [&](const Piece&) { return true; });
      if (found) {
        auto& seen = waited_for_[{own, pieces_[*found].owner}];
        seen = std::max(seen, pieces_[*found].freed);
      }
    }
    if (!found) {
      const Bytes bytes = size < kChunk ? kChunk : round_up(size, kGranularity);
      const auto region = device_.obtain(bytes);
      if (!region) return std::nullopt;
      pieces_.push_back({*region, bytes, *region, own, now_, options_.opportunistic, false});
      found = pieces_.size() - 1;
    }
    const Piece whole = pieces_[*found];
    const Bytes from = round_up(whole.at, alignment);
    std::vector<Piece> parts;
    const auto part = [&](Bytes begin, Bytes to, bool used) {
      if (begin == to) return;
      Piece cut = whole;
      cut.at = begin;
      cut.size = to - begin;
      cut.used = used;
      parts.push_back(cut);
    };
    part(whole.at, from, false);
    part(from, from + size, true);
    part(from + size, whole.at + whole.size, false);
    const auto place = pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(*found));
    pieces_.insert(place, parts.begin(), parts.end());
    return from;
  }

  void synchronise(Bytes threshold) {
    while (const auto oldest = oldest_closed()) {
      pieces_[*oldest].open = true;
      join(*oldest);
    }
    for (std::size_t i = pieces_.size(); i-- > 0;) {
      const Piece piece = pieces_[i];
      if (piece.used || device_.held <= threshold) continue;
      if (device_.regions.contains(piece.at) && device_.regions[piece.at] == piece.size) {
        device_.give_back_at(piece.at);
        pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  SlowDevice device_;
  Options options_;
  std::uint64_t now_ = 0;
  std::vector<Piece> pieces_;
  std::map<std::pair<int, int>, std::uint64_t> waited_for_;
};

TEST(CudaAsync, AgreesWithASlowModelOnRandomTraces) {
  struct Case {
    SlowCudaAsync::Options options;
    std::optional<Bytes> capacity;
    int streams;
  };
  const Case cases[] = {
      {{}, {}, 1},
      {{}, 9000, 3},
      {{.lag = std::nullopt}, {}, 3},
      {{.lag = 5}, 10000, 4},
      {{.opportunistic = false, .sync_every = 40}, {}, 2},
      {{.threshold = 4000, .lag = 20, .sync_every = 16}, {}, 3},
      {{.follow = false, .opportunistic = false, .internal = false}, 12000, 3},
      {{.threshold = 3000, .internal = false, .lag = 9, .sync_every = 100}, {}, 5}};
  for (const auto& [options, capacity, streams] : cases) {
    const std::string text = fmt::format(
        "cuda-async:align=1,chunk={},granularity={},threshold={},sync_every={},completion={},"
        "reuse_follow_event_dependencies={},reuse_allow_opportunistic={},"
        "reuse_allow_internal_dependencies={}",
        SlowCudaAsync::kChunk, SlowCudaAsync::kGranularity, options.threshold,
        options.sync_every ? std::to_string(options.sync_every) : "never",
        options.lag ? fmt::format("lag:{}", *options.lag) : "never", options.follow,
        options.opportunistic, options.internal);
    SCOPED_TRACE(text);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SlowCudaAsync model({.capacity = capacity}, options);
      expect_same_placements(text, model,
                             {.seed = seed,
                              .capacity = capacity,
                              .largest = 1500,
                              .streams = streams,
                              .strange_givers = true,
                              .empty_caches = true});
    }
  }
}

using Kind = DriverAllocatorOptions::Kind;

TEST(CudaAsyncOfTheDriver, TheAttributesOfThePoolAreTheOptions) {
  DriverDevice device({Kind::direct, Kind::stream_ordered});
  const auto strategy =
      make_strategy(parse_strategy("cuda-async:threshold=max,reuse_allow_opportunistic=false"),
                    {.device = device});
  ASSERT_EQ(device.opened.size(), 1u);
  const DriverAllocatorOptions& options = device.opened[0];
  EXPECT_EQ(options.kind, Kind::stream_ordered);
  EXPECT_EQ(options.release_threshold, UINT64_MAX);
  EXPECT_TRUE(options.reuse_follow_event_dependencies);
  EXPECT_FALSE(options.reuse_allow_opportunistic);
  EXPECT_TRUE(options.reuse_allow_internal_dependencies);
  EXPECT_TRUE(strategy->testimony().remarks.empty());
  ASSERT_TRUE(strategy->allocate({.size = 100, .stream = 1}));
  EXPECT_EQ(device.calls.size(), 1u);
}

TEST(CudaAsyncOfTheDriver, WhatOnlyTheModelHasIsRefused) {
  for (const std::string_view option :
       {"chunk=32MiB", "granularity=2MiB", "align=256", "sync_every=never", "completion=never"}) {
    DriverDevice device({Kind::stream_ordered});
    const StrategySpec given = parse_strategy(fmt::format("cuda-async:{}", option));
    try {
      make_strategy(given, {.device = device});
      FAIL() << option;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                fmt::format("strategy 'cuda-async': {} belongs to the model; on a GPU the driver "
                            "decides",
                            option.substr(0, option.find('='))));
    }
    EXPECT_TRUE(device.opened.empty());
  }
}

TEST(CudaAsyncOfTheDriver, WhereTheDriverHasNoPoolTheModelServes) {
  DriverDevice device({Kind::malloc});
  const auto strategy = make_strategy(parse_strategy("cuda-async:chunk=8MiB"), {.device = device});
  ASSERT_TRUE(strategy->allocate({.size = 100}));
  EXPECT_TRUE(device.opened.empty());
  EXPECT_EQ(device.usage().held, 8 * kMiB);
  EXPECT_EQ(strategy->testimony().remarks.size(), 1u);
}

}  // namespace
}  // namespace memreplay
