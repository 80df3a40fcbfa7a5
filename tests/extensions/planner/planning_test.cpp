#include "extensions/planner/planning.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "replay/replay.hpp"
#include "strategy/registry.hpp"
#include "trace/readers.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

/// A program written down call by call.
class Writer {
 public:
  Writer& alloc(Slot slot, Bytes size) { return add(Op::allocate, slot, size); }
  Writer& free(Slot slot) { return add(Op::free, slot, sizes_.at(slot)); }
  Writer& marker() { return add(Op::marker, kNoSlot, 0); }
  Writer& add(Op op, Slot slot, Bytes size) {
    builder_.add(op, builder_.lane(0, PoolId{}), slot, size);
    if (slot != kNoSlot) {
      sizes_[slot] = size;
      builder_.trace().slot_count = std::max(builder_.trace().slot_count, slot + 1);
    }
    return *this;
  }
  Trace trace() { return builder_.finish(); }

 private:
  TraceBuilder builder_{0};
  std::map<Slot, Bytes> sizes_;
};

struct Planned {
  std::shared_ptr<const Plan> plan;
  RunMetrics metrics;
  std::int64_t counter(std::string_view name) const {
    for (const auto& [key, value] : metrics.counters) {
      if (key == name) return value;
    }
    return -1;
  }
};

Planned run(const Trace& trace, std::string_view strategy, std::optional<Bytes> capacity = {},
            std::span<const std::string> texts = {}) {
  const StrategySpec spec = parse_strategy(strategy);
  Ledger ledger(strategy);
  SimulatedDevice simulated({.capacity = capacity, .granularity = 1});
  HeardDevice device(simulated, ledger);
  const Program program = program_of(trace, nullptr);
  StrategyContext context{.device = device, .capacity = capacity};
  Planned result;
  result.plan = make_plan(program, plan_wish(spec).value(), texts);
  context.plan = result.plan;
  const auto made = make_strategy(spec, context);
  result.metrics = replay(program, *made, device, {.watcher = &ledger}).metrics;
  return result;
}

TEST(Planning, ThePlanIsWhatTheReplayReserves) {
  Writer w;
  w.alloc(0, 3).alloc(1, 2).free(0).alloc(2, 3).free(1).alloc(3, 2);
  const Planned r = run(w.trace(), "plan:align=1");
  EXPECT_EQ(r.plan->height, 5u);
  EXPECT_EQ(r.plan->lower_bound, 5u);
  EXPECT_EQ(r.metrics.peak_reserved, 5u);
  EXPECT_EQ(r.metrics.ooms, 0u);
  EXPECT_TRUE(r.metrics.clairvoyant);
}

TEST(Planning, AWaitForAStreamKeepsThePlaceUntilItIsOver) {
  Writer w;
  w.alloc(0, 3).add(Op::free_requested, 0, 3).alloc(1, 3).add(Op::free_completed, 0, 3).alloc(2, 3);
  EXPECT_EQ(run(w.trace(), "plan:align=1").plan->height, 6u);
}

TEST(Planning, ARefusedRequestHasAPlaceForAnInstantOneOfNoBytesNone) {
  Writer w;
  w.alloc(0, 0).alloc(1, 3).add(Op::oom, kNoSlot, 100).alloc(2, 1);
  const Planned r = run(w.trace(), "plan:align=1");
  EXPECT_EQ(r.plan->entries.size(), 3u);
  EXPECT_EQ(r.plan->height, 103u);
  EXPECT_EQ(r.metrics.ooms, 0u);
  EXPECT_EQ(r.metrics.recorded_ooms_served, 1u);
}

TEST(Planning, EveryAlgorithmServesEveryRequestOfARandomTrace) {
  for (const char* spec :
       {"plan:order=size", "plan:order=area", "plan:order=length", "plan:order=start,fit=first",
        "plan:order=breadth", "plan:order=contention,align=1", "plan", "hybrid(plan,torch)"}) {
    Writer w;
    std::mt19937_64 random(4);
    std::vector<Slot> live, dead;
    for (Slot slot = 0; slot < 40; ++slot) dead.push_back(slot);
    for (int step = 0; step < 3000; ++step) {
      auto& from = dead.empty() || (!live.empty() && random() % 2) ? live : dead;
      auto& to = &from == &live ? dead : live;
      std::swap(from[random() % from.size()], from.back());
      if (&from == &live) {
        w.free(from.back());
      } else {
        w.alloc(from.back(), 1 + random() % 5000);
      }
      to.push_back(from.back());
      from.pop_back();
    }
    const Planned r = run(w.trace(), spec);
    EXPECT_EQ(r.metrics.ooms, 0u) << spec;
    EXPECT_EQ(r.metrics.peak_reserved, r.plan->height) << spec;
    EXPECT_GE(r.plan->height, r.plan->lower_bound);
  }
}

/// Weights, then iterations that all do the same; one block lives on into the next iteration.
Writer periodic(int iterations, std::uint64_t seed, bool crossing) {
  Writer w;
  std::mt19937_64 weights(seed);
  for (Slot slot = 0; slot < 5; ++slot) w.alloc(slot, 600 + weights() % 4000);
  w.alloc(100, 5000).free(100);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    w.marker();
    std::mt19937_64 random(seed + 1);
    std::vector<Slot> live;
    for (Slot slot = 10; slot < 40; ++slot) {
      w.alloc(slot, 1 + random() % 6000);
      live.push_back(slot);
      if (crossing && slot == 15 && iteration > 0) w.free(50);
      if (crossing && slot == 25) w.alloc(50, 3000);
      if (random() % 2) {
        std::swap(live[random() % live.size()], live.back());
        w.free(live.back());
        live.pop_back();
      }
    }
    while (!live.empty()) {
      w.free(live.back());
      live.pop_back();
    }
  }
  return w;
}

TEST(Planning, AStrictlyPeriodicTraceHasNoMismatch) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const bool crossing : {false, true}) {
      for (const char* spec : {"stalloc", "stalloc:algorithm=layers", "stalloc:algorithm=size"}) {
        const Planned r = run(periodic(6, seed, crossing).trace(), spec);
        EXPECT_EQ(r.counter("mismatches"), 0) << spec << ' ' << seed << ' ' << crossing;
        EXPECT_EQ(r.counter("fallback_served"), 0);
        EXPECT_FALSE(r.metrics.clairvoyant);
        EXPECT_EQ(r.plan->iterations.size(), 2u);
      }
    }
  }
}

/// A log of training as STAlloc writes it: micro-batches, and in them layers whose requests are
/// never the same.
Trace log_of_training(int iterations, std::vector<std::string>& texts) {
  std::string log;
  std::mt19937_64 random(9);
  std::vector<std::pair<int, int>> saved;  // by the forward for the backward: pointer, size
  int pointer = 0x1000;
  const auto line = [&](int status, int at, int size) {
    log += fmt::format("{} {:#x} {} 0\n", status, at, size);
  };
  const auto layer = [&](const char* pass) {
    log += fmt::format("moe->Expert Layer : {}-start\n", pass);
    const int size = 600 + static_cast<int>(random() % 4000);
    line(1, pointer, size);
    line(0, pointer++, size);
    log += fmt::format("moe->Expert Layer : {}-end\n", pass);
  };
  for (int weights = 0; weights < 3; ++weights) line(1, pointer++, 4000 * weights + 4000);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    log += fmt::format("Iteration Index : {}\n", iteration);
    for (int batch = 0; batch < 2; ++batch) {
      log += fmt::format("micro-batch {} : F\n", batch);
      for (int i = 0; i < 3; ++i) {
        saved.emplace_back(pointer, 2000 * i + 1000);
        line(1, pointer++, saved.back().second);
        layer("F");
      }
      log += fmt::format("micro-batch {} : B\n", batch);
      for (; !saved.empty(); saved.pop_back()) {
        layer("B");
        line(0, saved.back().first, saved.back().second);
      }
    }
  }
  Recording recording = stalloc_reader().read({"mem_log_dev0.txt", log}, {});
  texts = std::move(recording.texts);
  return std::move(recording.traces.at(0));
}

TEST(Planning, LayersThatAreNeverTheSameAreDynamicRegions) {
  std::vector<std::string> texts;
  const Trace trace = log_of_training(5, texts);
  for (const char* algorithm : {"auto", "group", "layers"}) {
    const std::string spec = fmt::format("stalloc:algorithm={}", algorithm);
    const Planned fixed = run(trace, spec, {}, texts);
    EXPECT_EQ(fixed.plan->iterations.size(), 2u);
    EXPECT_EQ(fixed.counter("mismatches"), 3 * 12);
    EXPECT_EQ(fixed.counter("dynamic_served"), -1);
    const Planned dynamic = run(trace, spec + ",dynamic=Expert", {}, texts);
    EXPECT_EQ(dynamic.plan->regions.size(), 2u * 12);
    EXPECT_EQ(dynamic.counter("mismatches"), 0);
    EXPECT_GT(dynamic.counter("dynamic_served"), 0);
    EXPECT_EQ(dynamic.counter("dynamic_served") + dynamic.counter("fallback_served"), 5 * 12);
    EXPECT_EQ(dynamic.metrics.ooms, 0u);
  }
}

TEST(Planning, WhatItsGroupFitPlacedIsSaid) {
  std::vector<std::string> texts;
  const Trace trace = log_of_training(3, texts);
  EXPECT_TRUE(run(trace, "stalloc:algorithm=group", {}, texts).plan->grouped);
  EXPECT_FALSE(run(trace, "stalloc:algorithm=layers", {}, texts).plan->grouped);
  const Planned automatic = run(trace, "stalloc", {}, texts);
  for (const char* spec : {"stalloc:algorithm=group", "stalloc:algorithm=layers"}) {
    EXPECT_LE(automatic.plan->height, run(trace, spec, {}, texts).plan->height);
  }
}

TEST(Planning, ADynamicLayerThatTheRecordingHasNotIsSaid) {
  std::vector<std::string> texts;
  const Trace trace = log_of_training(2, texts);
  EXPECT_EQ(run(trace, "stalloc:dynamic=Router", {}, texts).plan->shortened,
            "no mark of a layer that begins holds 'Router'");
}

TEST(Phases, MarksOfLayersAndMicroBatchesBeginNoIteration) {
  const std::vector<std::string> texts = {"",
                                          "Iteration Index : 0",
                                          "micro-batch 0 : F",
                                          "a->MLP Layer : F-start",
                                          "a->MLP Layer : F-end",
                                          "anything else"};
  const std::vector<PlannedMarker> markers = {{2, 1}, {5, 2}, {6, 3}, {9, 4}, {12, 3}, {14, 5}};
  using enum PlanMark;
  const ProgramPhases all = phases_of(markers, texts, "MLP");
  EXPECT_EQ(all.marks, (std::vector<PlanMark>{iteration, phase, region_begins, region_ends,
                                              region_begins, iteration}));
  EXPECT_EQ(all.iterations, (std::vector<std::uint64_t>{2, 14}));
  EXPECT_EQ(all.phases, (std::vector<std::uint64_t>{2, 5, 14}));
  for (const auto& [time, in_region] :
       {std::pair{6, true}, {8, true}, {9, false}, {13, true}, {14, false}, {3, false}}) {
    EXPECT_EQ(all.in_region(static_cast<std::uint64_t>(time)), in_region) << time;
  }
  EXPECT_TRUE(phases_of(markers, texts, "").regions.empty());
}

TEST(Planning, ASearchedPlanIsProvedTheLowest) {
  bool lower_than_orders = false;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Trace trace = periodic(2, seed, true).trace();
    const Planned r = run(trace, "plan:order=search,align=1");
    EXPECT_EQ(r.metrics.peak_reserved, r.plan->height);
    EXPECT_TRUE(r.plan->shortened.empty());
    const Planned orders = run(trace, "plan:align=1");
    EXPECT_LE(r.plan->height, orders.plan->height);
    lower_than_orders |= r.plan->height < orders.plan->height;
  }
  EXPECT_TRUE(lower_than_orders);
}

TEST(Planning, WithoutMarkersTheWholeTraceIsPlannedAndSaysSo) {
  Writer w;
  w.alloc(0, 3000).alloc(1, 100).free(0).alloc(2, 3000);
  const Planned r = run(w.trace(), "stalloc");
  EXPECT_TRUE(r.metrics.clairvoyant);
  EXPECT_EQ(r.counter("mismatches"), 0);
  EXPECT_EQ(r.plan->small_peak, 1u);
  EXPECT_EQ(r.plan->height, 3072u);
}

TEST(Planning, AnIterationThatIsOtherThanThePlannedOnesMismatches) {
  Writer w = periodic(3, 1, false);
  w.marker().alloc(200, 777).free(200);
  const Planned r = run(w.trace(), "stalloc");
  EXPECT_EQ(r.counter("mismatches"), 1);
  EXPECT_EQ(r.metrics.ooms, 0u);
}

}  // namespace
}  // namespace memreplay
