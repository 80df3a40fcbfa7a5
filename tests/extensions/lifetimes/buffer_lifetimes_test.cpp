#include "extensions/lifetimes/buffer_lifetimes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace memreplay {
namespace {

struct Lifetime {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

/// The buffers of the events, in order: (id, whether it begins).
std::vector<std::pair<std::uint64_t, bool>> in_order(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::tuple<std::int64_t, bool, std::uint64_t>> events;
  for (std::uint64_t id = 0; id < lifetimes.size(); ++id) {
    events.emplace_back(lifetimes[id].lower, true, id);
    events.emplace_back(lifetimes[id].upper, false, id);
  }
  std::ranges::sort(events);
  std::vector<std::pair<std::uint64_t, bool>> order;
  for (const auto& [time, begins, id] : events) order.emplace_back(id, begins);
  return order;
}

void expect_in_order(const std::vector<Lifetime>& lifetimes) {
  BufferLifetimes buffers;
  buffers.reserve(lifetimes.size() / 2);
  for (std::uint64_t id = 0; id < lifetimes.size(); ++id) {
    buffers.add(lifetimes[id].lower, lifetimes[id].upper,
                {.size = id + 1, .id = id, .align_log2 = static_cast<std::uint8_t>(id % 7)});
  }
  TraceBuilder builder(0);
  EventOutlet outlet("", {});
  buffers.add_to(builder, outlet);
  const Trace trace = builder.finish();
  const auto order = in_order(lifetimes);
  ASSERT_EQ(trace.size(), order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [id, begins] = order[i];
    EXPECT_EQ(trace.ids[i], id) << i;
    EXPECT_EQ(trace.ops[i], begins ? Op::allocate : Op::free) << i;
    EXPECT_EQ(trace.sizes[i], id + 1) << i;
    EXPECT_EQ(trace.align_log2[i], begins ? id % 7 : 0) << i;
  }
  EXPECT_TRUE(trace.tags.empty());
  EXPECT_EQ(fault_in(trace), std::nullopt);
}

TEST(BufferLifetimes, BecomeEventsInTheOrderOfTime) {
  std::mt19937_64 random(3);
  for (const std::int64_t longest : {3, 100, 100'000}) {
    for (const std::int64_t first : {std::int64_t{0}, std::int64_t{-50'000}, INT64_MIN}) {
      std::vector<Lifetime> lifetimes(500);
      for (Lifetime& lifetime : lifetimes) {
        lifetime.lower = first + static_cast<std::int64_t>(random() % 1000);
        lifetime.upper = lifetime.lower + 1 +
                         static_cast<std::int64_t>(random() % static_cast<unsigned>(longest));
      }
      expect_in_order(lifetimes);
    }
  }
}

TEST(BufferLifetimes, TimesMayBeAnyNumbers) {
  std::mt19937_64 random(4);
  std::vector<Lifetime> lifetimes;
  while (lifetimes.size() < 500) {
    const auto [lower, upper] =
        std::minmax({static_cast<std::int64_t>(random()), static_cast<std::int64_t>(random())});
    if (lower < upper) lifetimes.push_back({lower, upper});
  }
  lifetimes.push_back({INT64_MIN, INT64_MAX});
  expect_in_order(lifetimes);
}

TEST(BufferLifetimes, OnEitherSideOfWhatAHalfWordHolds) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 32;
  for (const std::int64_t longest : {kHalf - 1, kHalf, kHalf + 1}) {
    expect_in_order({{5, 5 + longest}, {7, 9}, {6, 4 + longest}, {1 + longest, 2 + longest}});
  }
}

TEST(BufferLifetimes, OfNoBuffersAreNoEvents) { expect_in_order({}); }

}  // namespace
}  // namespace memreplay
