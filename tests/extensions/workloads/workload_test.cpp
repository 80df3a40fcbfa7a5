#include "extensions/workloads/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/error.hpp"
#include "trace/gate.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

Trace made(const std::string& workload, std::uint64_t events, std::uint64_t seed = 1) {
  EventColumns all;
  Recording recording = generate(workload, WorkloadOptions{.events = events, .seed = seed},
                                 [&](const EventColumns& some) { append(some, all); });
  Trace trace = std::move(recording.traces.front());
  static_cast<EventColumns&>(trace) = std::move(all);
  return trace;
}

/// FNV-1a of all that a workload decides.
std::uint64_t hash_of(const Trace& trace) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (number >> byte * 8 & 255)) * 0x100000001b3;
  };
  for (std::size_t event = 0; event < trace.size(); ++event) {
    add(static_cast<std::uint64_t>(trace.ops[event]));
    add(trace.slots[event]);
    add(trace.sizes[event]);
    if (!trace.tags.empty()) add(trace.tags[event]);
  }
  return hash;
}

Bytes live_peak(const Trace& trace) {
  RecordedLevels levels(trace);
  for (std::size_t event = 0; event < trace.size(); ++event) levels.play(event);
  return levels.peaks().live().requested;
}

TEST(Workloads, EveryOneGivesAsManyEventsAsAskedForAndKeepsTheRules) {
  for (const WorkloadInfo& info : workloads()) {
    for (const std::uint64_t events : {0, 1, 1000, 150'000}) {
      const Trace trace = made(std::string(info.name), events);
      EXPECT_EQ(trace.size(), events);
      EXPECT_FALSE(fault_in(trace)) << info.name;
    }
  }
}

TEST(Workloads, TheSeedDecidesAlone) {
  for (const WorkloadInfo& info : workloads()) {
    const std::string name(info.name);
    EXPECT_EQ(made(name, 3000, 4), made(name, 3000, 4)) << name;
  }
  EXPECT_NE(made("random", 3000, 4), made("random", 3000, 5));
}

TEST(Workloads, ARecordingSaysHowItWasMadeButForHowManyLive) {
  const auto detail = [](const std::string& workload, const std::string& live) {
    return generate(workload, WorkloadOptions{.live = live}, [](const EventColumns&) {}).detail;
  };
  EXPECT_EQ(detail("random:live=9", "5"), "generated: random:live=9, seed 1");
  EXPECT_EQ(detail("random", "5"), "generated: random, seed 1");
}

TEST(Workloads, OneSeedMeansTheSameEventsForEver) {
  const std::map<std::string, std::uint64_t> kept = {
      {"random", 7159501807670872041u},
      {"random:sizes=uniform,lifetimes=youngest", 2544846813186220054u},
      {"random:sizes=power,lifetimes=oldest", 10420915271675850218u},
      {"random:sizes=zipf,lifetimes=exponential", 1169596838582998289u},
      {"random:lifetimes=power", 4007533981858869594u},
      {"random:lifetimes=generational", 926569127603867198u},
      {"training:layers=4,micro=3,stages=2,checkpoint=2", 16699564942966553226u},
      {"inference:layers=4", 4441309081509606202u},
      {"fragmentation:vary=0.5", 3466915579237564128u},
      {"split-expandable", 3865633603738483742u},
      {"adversary:words=1024", 11835202949196720218u},
      {"adversary:against=best-fit,words=1024", 5231747441786914437u},
      {"adversary:against=buddy,words=1024", 16725922557071533936u},
  };
  for (const auto& [workload, hash] : kept) {
    EXPECT_EQ(hash_of(made(workload, 20'000)), hash) << workload;
  }
}

TEST(Workloads, AboutAsManyBlocksLiveAsAskedFor) {
  const Trace trace = made("random:live=500", 100'000);
  EXPECT_GE(trace.slot_count, 500u);
  EXPECT_LT(trace.slot_count, 600u);
  const auto [least, most] = std::ranges::minmax(trace.sizes);
  EXPECT_GE(least, Bytes{512});
  EXPECT_LE(most, 64 * kMiB);
}

TEST(Workloads, LifetimesAverageAsManyAllocationsAsLive) {
  for (const char* law : {"exponential", "power", "generational"}) {
    const Trace trace = made(std::string("random:live=300,lifetimes=") + law, 400'000);
    std::int64_t live = 0;
    std::int64_t sum = 0;
    for (const Op op : trace.ops) sum += live += op == Op::allocate ? 1 : -1;
    EXPECT_NEAR(static_cast<double>(sum) / 400'000, 300, 60) << law;
  }
}

TEST(Workloads, OneBlockIsEnough) { EXPECT_LE(made("random:live=1", 1000).slot_count, 20u); }

TEST(Workloads, TheYoungestIsFreedFirstFromAStackTheOldestFromAQueue) {
  for (const bool youngest : {true, false}) {
    const Trace trace = made(
        youngest ? "random:live=20,lifetimes=youngest" : "random:live=20,lifetimes=oldest", 999);
    std::vector<Slot> live;
    for (std::size_t event = 0; event < trace.size(); ++event) {
      if (trace.ops[event] == Op::allocate) {
        live.push_back(trace.slots[event]);
        continue;
      }
      const auto next = youngest ? live.end() - 1 : live.begin();
      ASSERT_EQ(*next, trace.slots[event]);
      live.erase(next);
    }
  }
}

TEST(Workloads, ZipfHasFixedSizesOfWhichTheFirstIsTwiceAsLikelyAsTheSecond) {
  const Trace trace = made("random:sizes=zipf,classes=8,live=9", 100'000);
  std::map<Bytes, int> counts;
  for (const Bytes size : trace.sizes) ++counts[size];
  EXPECT_EQ(counts.size(), 8u);
  std::vector<int> sorted;
  for (const auto& [size, count] : counts) sorted.push_back(count);
  std::ranges::sort(sorted, std::greater{});
  EXPECT_NEAR(static_cast<double>(sorted[0]) / sorted[1], 2, 0.1);
  EXPECT_NEAR(static_cast<double>(sorted[0]) / sorted[7], 8, 0.6);
}

TEST(Workloads, APowerLawHasTheTailThatItSays) {
  const Trace trace = made("random:sizes=power,exponent=1,min=1000,max=1G,live=9", 100'000);
  const auto above = [&](Bytes size) {
    return static_cast<double>(
        std::ranges::count_if(trace.sizes, [&](Bytes s) { return s > size; }));
  };
  EXPECT_NEAR(above(10'000) / 100'000, 0.1, 0.01);
  EXPECT_NEAR(above(100'000) / 100'000, 0.01, 0.002);
}

TEST(Workloads, CheckpointsAndLaterStagesOfAPipelineNeedLess) {
  const auto peak = [](const std::string& options) {
    return live_peak(made("training:layers=12,shorter=0,micro=4" + options, 20'000));
  };
  EXPECT_LT(peak(",checkpoint=1"), peak(",checkpoint=4"));
  EXPECT_LT(peak(",checkpoint=4"), peak(""));
  EXPECT_LT(peak(",stages=4,stage=2"), peak(",stages=4,stage=1"));
  EXPECT_LT(peak(",optimizer=none"), peak(",optimizer=sgd"));
}

TEST(Workloads, EveryStepOfATrainingIsTheSameButForItsLengths) {
  const Trace trace = made("training:layers=3,shorter=0", 2000);
  std::vector<std::size_t> steps;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::marker) steps.push_back(event);
  }
  ASSERT_GT(steps.size(), 5u);
  const std::size_t length = steps[3] - steps[2];  // the optimizer's states came with the first
  EXPECT_EQ(steps[4] - steps[3], length);
  for (std::size_t i = 0; i < length; ++i) {
    EXPECT_EQ(trace.sizes[steps[2] + i], trace.sizes[steps[3] + i]);
  }
}

TEST(Workloads, CachesGrowByWholeSteps) {
  const Trace trace = made("inference:layers=2,weights=5,token=100,grow=8", 5000);
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.tags[event] == 2) {
      EXPECT_EQ(trace.sizes[event] % 800, 0u);
    }
  }
}

TEST(Workloads, OfFragmentationEveryOtherBlockGoesAndNoneOfTheLargerFits) {
  const Trace trace = made("fragmentation:blocks=8,size=10,factor=2", 20);
  const std::vector<Bytes> sizes = {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 20, 20};
  EXPECT_TRUE(std::equal(sizes.begin(), sizes.end(), trace.sizes.begin()));
  EXPECT_EQ(std::ranges::count(trace.ops, Op::free), 10);
}

/// How far a way to place blocks reaches in an endless memory, in bytes.
class HeightOf {
 public:
  explicit HeightOf(const Trace& trace) : trace_(trace) {}

  Bytes first_fit() {
    return play([&](Bytes size) { return first_hole(size, 1); });
  }
  /// A buddy has the place that is a multiple of its size.
  Bytes buddy() {
    return play([&](Bytes& size) {
      size = std::bit_ceil(size);
      return first_hole(size, size);
    });
  }
  Bytes best_fit() {
    return play([&](Bytes size) {
      Address at = 0;
      std::pair<Bytes, Address> best{~Bytes{0}, 0};
      for (const auto& [begin, length] : blocks_) {
        if (begin - at >= size) best = std::min(best, {begin - at, at});
        at = begin + length;
      }
      return best.first == ~Bytes{0} ? at : best.second;
    });
  }

 private:
  Address first_hole(Bytes size, Bytes align) const {
    Address at = 0;
    for (const auto& [begin, length] : blocks_) {
      at = (at + align - 1) / align * align;
      if (at + size <= begin) break;
      at = begin + length;
    }
    return (at + align - 1) / align * align;
  }
  template <typename Place>
  Bytes play(Place place) {
    std::vector<Address> place_of(trace_.slot_count);
    Bytes height = 0;
    for (std::size_t event = 0; event < trace_.size(); ++event) {
      Address& at = place_of[trace_.slots[event]];
      if (trace_.ops[event] == Op::free) {
        blocks_.erase(at);
        continue;
      }
      Bytes size = trace_.sizes[event];
      at = place(size);
      blocks_[at] = size;
      height = std::max(height, at + size);
    }
    return height;
  }

  const Trace& trace_;
  std::map<Address, Bytes> blocks_;
};

Trace against(const std::string& opponent) {
  return made("adversary:words=512,largest=64,word=1,against=" + opponent, 3000);
}

TEST(Workloads, FirstFitNeedsForItsAdversaryWhatRobsonProved) {
  const Trace trace = against("first-fit");
  EXPECT_LE(live_peak(trace), 512u);
  EXPECT_GE(HeightOf(trace).first_fit(), 512u * (1 + 6 / 2) - 64);
}

TEST(Workloads, BuddiesNeedForTheirAdversaryAboutTheLogarithmOfTheLargest) {
  const Trace trace = against("buddy");
  EXPECT_LE(live_peak(trace), 512u);
  EXPECT_GE(HeightOf(trace).buddy(), 512u * 11 / 2);
  EXPECT_LT(HeightOf(trace).first_fit(), 512u * 4);
}

TEST(Workloads, BestFitKeepsAWordInEachHoleThatItsAdversaryMakes) {
  const Trace trace = against("best-fit");
  EXPECT_LE(live_peak(trace), 64u * 5 / 2);
  EXPECT_GE(HeightOf(trace).best_fit(), 64u / 2 * 64 * 3 / 4);
  EXPECT_LT(HeightOf(trace).first_fit(), 64u * 5);
}

TEST(Workloads, WhatMeansNothingIsRefusedWithWhatWasExpected) {
  const auto message = [](const std::string& workload) -> std::string {
    try {
      made(workload, 1);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("randon"),
            "unknown workload 'randon'; did you mean 'random'? "
            "(memreplay list workloads)");
  EXPECT_EQ(message("random:lives=5"),
            "workload random has no option 'lives'; did you mean "
            "'live'? (memreplay list workloads random)");
  EXPECT_EQ(message("random:live=0"),
            "workload random: live is '0'; expected a whole number of 1 to 1000000000");
  EXPECT_EQ(message("random:sizes=zip"),
            "workload random: sizes is 'zip'; expected log-uniform|uniform|power|zipf");
  EXPECT_EQ(message("random:min=0"),
            "workload random: min is '0'; expected a size of 1 byte to 1 TiB");
  EXPECT_EQ(message("random:exponent=nan"),
            "workload random: exponent is 'nan'; expected a number of 0.01 to 10");
  EXPECT_EQ(message("random:min=2K,max=1K"),
            "workload random: min is 2 KiB and max 1 KiB; expected no less");
  EXPECT_EQ(message("training:stages=2,stage=2"),
            "workload training: stage is '2'; expected a whole number of 0 to 1");
}

}  // namespace
}  // namespace memreplay
