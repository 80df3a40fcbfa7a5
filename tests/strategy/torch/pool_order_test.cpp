#include "strategy/torch/pool_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace memreplay::torch {
namespace {

using Pools = std::vector<PoolIndex>;

PoolOrder of_graphs(PoolIndex first, PoolIndex last) {
  PoolOrder order;
  for (PoolIndex pool = first; pool <= last; ++pool) order.insert(pool, {pool, 0});
  return order;
}

/// As the original released them.
TEST(PoolOrder, IsThatOfTheOriginalsTable) {
  EXPECT_EQ(of_graphs(4, 7).pools(), Pools({5, 7, 4, 6}));
  EXPECT_EQ(of_graphs(1, 12).pools(), Pools({5, 10, 2, 7, 12, 4, 9, 1, 6, 11, 3, 8}));
}

TEST(PoolOrder, OfThoseThatAreLeft) {
  PoolOrder order = of_graphs(1, 12);
  for (const PoolIndex gone : Pools({10, 4, 8, 8})) order.erase(gone);
  EXPECT_EQ(order.pools(), Pools({5, 2, 7, 12, 9, 1, 6, 11, 3}));
  for (const PoolIndex gone : order.pools()) order.erase(gone);
  EXPECT_EQ(order.pools(), Pools());
}

TEST(PoolOrder, TwoThatWantTheSameSlotAreInTheOrderOfTheirComing) {
  PoolOrder order;
  order.insert(1, {0, 5});
  order.insert(2, {5, 0});
  EXPECT_EQ(order.pools(), Pools({1, 2}));
  order.erase(1);
  order.insert(1, {0, 5});
  EXPECT_EQ(order.pools(), Pools({2, 1}));
}

/// 2 and 31 want the same slot. 26 takes it from 2, which goes on after 31.
TEST(PoolOrder, WhoMakesRoomGoesBehindThoseOfItsSlot) {
  PoolOrder order;
  for (const PoolIndex pool : Pools({2, 31, 13})) order.insert(pool, {pool, 0});
  EXPECT_EQ(order.pools(), Pools({13, 2, 31}));
  order.insert(26, {26, 0});
  EXPECT_EQ(order.pools(), Pools({13, 26, 31, 2}));
}

TEST(PoolOrder, ManyOfOneNumberAreKeptInLittleMemory) {
  PoolOrder order;
  for (PoolIndex pool = 1; pool <= 3000; ++pool) order.insert(pool, {0, 7});
  EXPECT_EQ(order.pools().size(), 3000u);
}

}  // namespace
}  // namespace memreplay::torch
