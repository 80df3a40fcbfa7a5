#include "extensions/planner/ordered.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "extensions/planner/random_blocks.hpp"

namespace memreplay {
namespace {

using Blocks = std::vector<PlannedBlock>;
using Rows = std::vector<std::uint32_t>;

TEST(PlacingOrders, BreakTiesCompletely) {
  const Blocks blocks = {{0, 4, 2}, {1, 3, 4}, {0, 2, 4}, {0, 2, 4}, {3, 9, 1}};
  EXPECT_EQ(placing_order(blocks, PlacingOrder::size), (Rows{2, 3, 1, 0, 4}));
  EXPECT_EQ(placing_order(blocks, PlacingOrder::area), (Rows{0, 1, 2, 3, 4}));
  EXPECT_EQ(placing_order(blocks, PlacingOrder::length), (Rows{4, 0, 1, 2, 3}));
  EXPECT_EQ(placing_order(blocks, PlacingOrder::start), (Rows{2, 3, 0, 1, 4}));
  // Live bytes: 10 from 0 on, 14 from 1 on, 3 from 3 on.
  EXPECT_EQ(placing_order(blocks, PlacingOrder::breadth), (Rows{2, 3, 1, 0, 4}));
  EXPECT_EQ(placing_order(blocks, PlacingOrder::contention), (Rows{0, 1, 2, 3, 4}));
}

TEST(PlaceInOrder, BestFitTakesTheSmallestGapAndFirstFitTheLowest) {
  // Two gaps below the top while block 4 lives: [0, 4) and [5, 7).
  const Blocks blocks = {{0, 1, 4}, {0, 9, 1}, {0, 1, 2}, {0, 9, 3}, {1, 9, 2}};
  const Rows order = {0, 1, 2, 3, 4};
  EXPECT_EQ(place_in_order(blocks, order, PlacingFit::best).offsets.back(), 5u);
  EXPECT_EQ(place_in_order(blocks, order, PlacingFit::first).offsets.back(), 0u);
}

/// The definition, pair by pair.
Packing slow_placing(const Blocks& blocks, const Rows& order, PlacingFit fit) {
  std::vector<Bytes> offsets(blocks.size());
  Rows placed;
  for (const std::uint32_t row : order) {
    std::vector<std::pair<Bytes, Bytes>> taken;
    for (const std::uint32_t other : placed) {
      if (!blocks[row].overlaps(blocks[other])) continue;
      taken.emplace_back(offsets[other], offsets[other] + blocks[other].size);
    }
    std::sort(taken.begin(), taken.end());
    Bytes top = 0;
    std::optional<std::pair<Bytes, Bytes>> best;  // gap, offset
    for (const auto& [from, to] : taken) {
      const Bytes at = round_up(top, blocks[row].alignment);
      if (at + blocks[row].size <= from) {
        if (!best || (fit == PlacingFit::best && from - top < best->first)) {
          best = {from - top, at};
        }
      }
      top = std::max(top, to);
    }
    offsets[row] = best ? best->second : round_up(top, blocks[row].alignment);
    placed.push_back(row);
  }
  return packing_of(blocks, offsets);
}

TEST(PlaceInOrder, AgreesWithTheDefinitionAndIsSound) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 400; ++i) {
    const Blocks blocks = random_blocks(
        random, {.count = 1 + random() % 40, .last_time = 40, .alignments = 1 + i % 4});
    for (const PlacingOrder order : kPlacingOrders) {
      const Rows rows = placing_order(blocks, order);
      Rows sorted = rows;
      std::sort(sorted.begin(), sorted.end());
      for (std::uint32_t row = 0; row < sorted.size(); ++row) ASSERT_EQ(sorted[row], row);
      for (const PlacingFit fit : {PlacingFit::first, PlacingFit::best}) {
        const Packing packing = place_in_order(blocks, rows, fit);
        ASSERT_EQ(packing.offsets, slow_placing(blocks, rows, fit).offsets);
        ASSERT_FALSE(first_conflict(blocks, packing));
        ASSERT_GE(packing.height, lower_bound_of(blocks));
      }
    }
  }
}

TEST(PlaceInOrder, AgreesWithTheDefinitionWhereManyBlocksLiveAtOnce) {
  std::mt19937_64 random(6);
  for (const Bytes largest : {Bytes{50}, Bytes{1} << 30}) {
    const Blocks blocks =
        random_blocks(random, {.count = 900, .last_time = 50, .largest = largest, .alignments = 3});
    const Rows rows = placing_order(blocks, PlacingOrder::length);
    for (const PlacingFit fit : {PlacingFit::first, PlacingFit::best}) {
      ASSERT_EQ(place_in_order(blocks, rows, fit).offsets, slow_placing(blocks, rows, fit).offsets);
    }
  }
}

TEST(PlaceInOrder, AgreesWithTheDefinitionForManyBlocks) {
  std::mt19937_64 random(8);
  for (const std::uint64_t last : {60u, 1500u, 40000u}) {
    Blocks blocks =
        random_blocks(random, {.count = 2200, .last_time = last, .largest = 60, .alignments = 3});
    // Some live shortly.
    for (std::size_t i = 0; i < blocks.size(); i += 2) {
      blocks[i].end = std::min(blocks[i].end, blocks[i].start + 1 + i % 90);
    }
    for (const PlacingOrder order : {PlacingOrder::size, PlacingOrder::length}) {
      const Rows rows = placing_order(blocks, order);
      const PlacingFit fit = order == PlacingOrder::size ? PlacingFit::best : PlacingFit::first;
      ASSERT_EQ(place_in_order(blocks, rows, fit).offsets, slow_placing(blocks, rows, fit).offsets);
      const Bytes capacity = lower_bound_of(blocks);
      const auto placed = place_within(blocks, rows, fit, capacity);
      for (std::size_t row = 0; row < blocks.size(); ++row) {
        ASSERT_TRUE(placed[row] == kNotPlaced || placed[row] + blocks[row].size <= capacity);
      }
    }
  }
}

TEST(PlacingOrders, BreadthAndContentionFollowTheirDefinitions) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const Blocks blocks = random_blocks(random, {.count = 1 + random() % 30, .last_time = 30});
    const auto live_at = [&](std::uint64_t time) {
      Bytes sum = 0;
      for (const auto& b : blocks) sum += b.start <= time && time < b.end ? b.size : 0;
      return sum;
    };
    std::vector<std::pair<Bytes, std::uint64_t>> instants;  // ~live, time
    for (const auto& b : blocks) instants.emplace_back(~live_at(b.start), b.start);
    std::sort(instants.begin(), instants.end());
    Rows breadth;
    for (const auto& [live, time] : instants) {
      Rows here;
      for (std::uint32_t row = 0; row < blocks.size(); ++row) {
        const bool lives = blocks[row].start <= time && time < blocks[row].end;
        if (lives && std::find(breadth.begin(), breadth.end(), row) == breadth.end()) {
          here.push_back(row);
        }
      }
      std::sort(here.begin(), here.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::make_tuple(~blocks[a].size, blocks[a].start, a) <
               std::make_tuple(~blocks[b].size, blocks[b].start, b);
      });
      breadth.insert(breadth.end(), here.begin(), here.end());
    }
    ASSERT_EQ(placing_order(blocks, PlacingOrder::breadth), breadth);

    const auto contention = [&](std::uint32_t row) {
      Bytes most = 0;
      for (auto time = blocks[row].start; time < blocks[row].end; ++time) {
        most = std::max(most, live_at(time));
      }
      return std::make_tuple(~most, ~(blocks[row].size * blocks[row].length()), row);
    };
    const Rows rows = placing_order(blocks, PlacingOrder::contention);
    for (std::size_t k = 1; k < rows.size(); ++k) {
      ASSERT_LT(contention(rows[k - 1]), contention(rows[k]));
    }
  }
}

TEST(PlaceByStart, IsTheOrderStartWithBestFit) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 200; ++i) {
    const Blocks blocks = random_blocks(random, {.count = 1 + random() % 40, .last_time = 30});
    const Rows rows = placing_order(blocks, PlacingOrder::start);
    ASSERT_EQ(place_by_start(blocks).offsets,
              place_in_order(blocks, rows, PlacingFit::best).offsets);
    std::uint64_t pairs = 0;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) pairs += blocks[a].overlaps(blocks[b]);
    }
    ASSERT_EQ(overlapping_pairs(blocks), pairs);
  }
}

TEST(BestOfOrders, IsTheLowestAndRandomOrdersAreSoundToo) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const Blocks blocks = random_blocks(random, {.count = 1 + random() % 30, .last_time = 30});
    const BestPacking best = best_of_orders(blocks, PlacingFit::best);
    for (const PlacingOrder order : kPlacingOrders) {
      ASSERT_LE(best.packing.height,
                place_in_order(blocks, placing_order(blocks, order), PlacingFit::best).height);
    }
    ASSERT_FALSE(first_conflict(blocks, best.packing));
    ASSERT_FALSE(first_conflict(blocks, best_of_random_orders(blocks, PlacingFit::first, 1, 5)));
  }
}

TEST(BestOfOrders, NothingToPlaceIsNoHeight) {
  EXPECT_EQ(best_of_orders({}, PlacingFit::best).packing.height, 0u);
}

}  // namespace
}  // namespace memreplay
