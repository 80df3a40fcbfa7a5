#include "core/range_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <vector>

namespace memreplay {
namespace {

TEST(RangeSet, NeighboursJoinOnBothSides) {
  RangeSet set;
  set.insert({0, 10});
  set.insert({20, 30});
  set.insert({10, 20});
  EXPECT_EQ(set.ranges(), (std::map<Address, Address>{{0, 30}}));
}

TEST(RangeSet, NeighboursStayApartWhereAskedTo) {
  RangeSet set(RangeSet::Neighbours::stay_apart);
  set.insert({0, 10});
  set.insert({10, 20});
  EXPECT_EQ(set.largest(), 10u);
  EXPECT_EQ(set.total(), 20u);
}

TEST(RangeSet, AnOverlappingRangeIsRefused) {
  RangeSet set;
  set.insert({0, 10});
  EXPECT_THROW(set.insert({9, 12}), std::logic_error);
}

TEST(RangeSet, ErasingTheMiddleLeavesBothEnds) {
  RangeSet set;
  set.insert({0, 10});
  EXPECT_TRUE(set.erase({4, 6}));
  EXPECT_FALSE(set.erase({3, 5}));
  EXPECT_EQ(set.ranges(), (std::map<Address, Address>{{0, 4}, {6, 10}}));
}

TEST(RangeSet, AlignmentCanRuleOutARangeThatIsLargeEnough) {
  RangeSet set;
  set.insert({1, 9});
  set.insert({16, 24});
  EXPECT_EQ(set.lowest(8, 8)->from, 16u);
  EXPECT_EQ(set.smallest(8, 8)->from, 16u);
  EXPECT_EQ(set.lowest(8)->from, 1u);
}

TEST(RangeSet, FindsWhatALinearSearchFinds) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    RangeSet set;
    std::vector<AddressRange> ranges;
    for (Address at = 0; at < 600;) {
      const AddressRange range{at + 1 + random() % 5, at + 6 + random() % 40};
      set.insert(range);
      ranges.push_back(range);
      at = range.to;
    }
    const Bytes size = 1 + random() % 50;
    const Bytes alignment = Bytes{1} << random() % 5;
    std::optional<AddressRange> lowest, smallest;
    for (const AddressRange& range : ranges) {
      if (round_up(range.from, alignment) + size > range.to) continue;
      if (!lowest) lowest = range;
      if (!smallest || range.size() < smallest->size()) smallest = range;
    }
    EXPECT_EQ(set.lowest(size, alignment), lowest);
    EXPECT_EQ(set.smallest(size, alignment), smallest);
  }
}

}  // namespace
}  // namespace memreplay
