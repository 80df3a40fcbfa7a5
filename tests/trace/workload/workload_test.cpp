#include "trace/workload/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

Trace made(const std::string& name, const WorkloadOptions& options) {
  EventColumns all;
  Recording recording =
      generate(name, options, [&](const EventColumns& events) { append(events, all); });
  Trace trace = std::move(recording.traces.front());
  static_cast<EventColumns&>(trace) = std::move(all);
  return trace;
}

TEST(Workloads, EveryOneGivesAsManyEventsAsAskedForAndKeepsTheRules) {
  for (const WorkloadInfo& info : workloads()) {
    for (const std::uint64_t events : {0, 1, 1000, 150'000}) {
      const Trace trace = made(std::string(info.name), {.events = events, .live = 100});
      EXPECT_EQ(trace.size(), events);
      EXPECT_FALSE(fault_in(trace)) << info.name;
    }
  }
}

TEST(Workloads, TheSeedDecidesAlone) {
  const auto with_seed = [](std::uint64_t seed) {
    return made("random", {.events = 3000, .live = 50, .seed = seed});
  };
  EXPECT_EQ(with_seed(4), with_seed(4));
  EXPECT_NE(with_seed(4), with_seed(5));
}

TEST(Workloads, AboutAsManyBlocksLiveAsAskedFor) {
  const Trace trace = made("random", {.events = 100'000, .live = 500});
  EXPECT_GE(trace.slot_count, 500u);
  EXPECT_LT(trace.slot_count, 600u);
  const auto [least, most] = std::ranges::minmax(trace.sizes);
  EXPECT_GE(least, Bytes{512});
  EXPECT_LE(most, 64 * kMiB);
}

TEST(Workloads, OneBlockIsEnough) {
  EXPECT_LE(made("random", {.events = 1000, .live = 1}).slot_count, 20u);
}

TEST(Workloads, AnUnknownOneSuggestsTheNearest) {
  EXPECT_THROW(generate("randon", {}, [](const EventColumns&) {}), UsageError);
}

}  // namespace
}  // namespace memreplay
