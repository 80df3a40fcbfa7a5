#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

std::shared_ptr<const Plan> plan_of(std::vector<Plan::Entry> entries, Bytes height) {
  Plan plan;
  plan.entries = std::move(entries);
  plan.height = height;
  plan.repeats_from = plan.entries.size();
  return std::make_shared<const Plan>(std::move(plan));
}

MemoryPicture picture(std::shared_ptr<const Plan> plan, std::optional<Bytes> capacity = {}) {
  return MemoryPicture("plan", capacity, 1, std::move(plan));
}

TEST(PlanStrategy, RequestsGoWhereThePlanHasThem) {
  auto m = picture(plan_of({{3, 2, true}, {2, 0, true}, {1, 4, true}}, 6));
  m.alloc('A', 3).alloc('B', 2);
  EXPECT_EQ(m.picture(), "BBAAA.");
  m.free('A').alloc('C', 1);
  EXPECT_EQ(m.picture(), "BB..C.");
  EXPECT_EQ(m.device().held, 6u);
}

TEST(PlanStrategy, ARequestOutOfThePlanIsNotServed) {
  auto m = picture(plan_of({{3, 2, true}, {2, 0, true}, {9, 0, false}}, 6));
  m.alloc('A', 4).alloc('B', 2).alloc('C', 9).alloc('D', 1);
  EXPECT_EQ(m.picture(), "BB....");
  EXPECT_EQ(m.ooms(), 3);
}

TEST(PlanStrategy, APlaceThatIsTakenServesNothing) {
  auto m = picture(plan_of({{3, 0, true}, {3, 2, true}, {2, 3, true}}, 6));
  m.alloc('A', 3).alloc('B', 3).alloc('C', 2);
  EXPECT_EQ(m.picture(), "AAACC.");
}

TEST(PlanStrategy, WhereTheDeviceIsTooSmallNothingIsServed) {
  auto m = picture(plan_of({{3, 2, true}}, 6), 5);
  m.alloc('A', 3);
  EXPECT_EQ(m.ooms(), 1);
  EXPECT_EQ(m.strategy().testimony().remarks.back(),
            "the plan needs 6 B in one piece, which the device refuses");
}

TEST(PlanStrategy, ItSaysThatItKnowsTheFuture) {
  const auto m = picture(plan_of({{3, 2, true}}, 6));
  EXPECT_TRUE(m.strategy().usage().clairvoyant);
  EXPECT_EQ(m.strategy().testimony().remarks.size(), 1u);
}

TEST(PlanStrategy, WithoutAPlanItCannotBeMade) {
  EXPECT_THROW(picture({}), UsageError);
  EXPECT_THROW(MemoryPicture("plan:order=colour"), UsageError);
}

TEST(PlanStrategy, WhatItWishesFollowsItsOptions) {
  const auto wish = plan_wish(parse_strategy("hybrid(plan:order=size,fit=first,align=1,torch)"));
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->algorithm, "size/first");
  EXPECT_EQ(wish->alignment, 1u);
  EXPECT_EQ(plan_wish(parse_strategy("plan"))->algorithm, "best/best");
  EXPECT_FALSE(plan_wish(parse_strategy("torch")));
}

}  // namespace
}  // namespace memreplay
