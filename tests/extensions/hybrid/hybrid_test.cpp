#include <gtest/gtest.h>

#include <utility>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

TEST(Hybrid, WhatTheArenaHasNoRoomForGoesToTheDynamicPart) {
  MemoryPicture m("hybrid(bump,free-list):static=4");
  m.alloc('A', 3).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AAAC|BB");
  EXPECT_EQ(m.counter("static_served"), 2);
  EXPECT_EQ(m.counter("static_missed"), 1);
  EXPECT_EQ(m.counter("dynamic_served_bytes"), 2);
}

TEST(Hybrid, TheArenaIsHeldAtOnceAndStays) {
  MemoryPicture m("hybrid(free-list,free-list):static=6");
  m.alloc('A', 1);
  EXPECT_EQ(m.device().held, 6u);
  m.free('A').empty_cache();
  EXPECT_EQ(m.device().held, 6u);
  EXPECT_EQ(m.picture(), "......");
}

TEST(Hybrid, WithoutRoomForTheArenaTheDynamicPartServesAll) {
  MemoryPicture m("hybrid(free-list,free-list):static=6", 5);
  m.alloc('A', 2).alloc('B', 3);
  EXPECT_EQ(m.picture(), "AA|BBB");
}

TEST(Hybrid, AStaticPartWithASizeOfItsOwnNeedsNoOther) {
  MemoryPicture m("hybrid(bump:size=4,direct)");
  m.alloc('A', 3).alloc('B', 2);
  EXPECT_EQ(m.picture(), "AAA.|BB");
}

TEST(Hybrid, WhatIsOutOfThePlanIsServedDynamically) {
  Plan plan;
  plan.entries = {{2, 1, true}, {3, 0, true}, {1, 0, true}};
  plan.height = 3;
  plan.repeats_from = 3;
  MemoryPicture m("hybrid(plan,direct)", std::nullopt, 1, std::make_shared<const Plan>(plan));
  m.alloc('A', 2).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "CAA|BB");
  EXPECT_EQ(m.counter("static.out_of_plan"), 1);
  EXPECT_TRUE(m.strategy().usage().clairvoyant);
}

TEST(Hybrid, ItsStaticPartMayBeThePlannersBest) {
  EXPECT_EQ(plan_wish(parse_strategy("hybrid:static=plan"))->algorithm, "search");
  EXPECT_FALSE(plan_wish(parse_strategy("hybrid(bump,torch):static=4")));
  MemoryPicture m("hybrid(direct):static=plan");
  m.alloc('A', 2).alloc('B', 1);
  EXPECT_EQ(m.picture(), "AA|B");
  EXPECT_THROW(MemoryPicture("hybrid(plan,direct):static=plan"), UsageError);
}

TEST(Hybrid, WithoutAPlanItIsItsDynamicPart) {
  MemoryPicture m("hybrid(plan,direct)");
  m.alloc('A', 2).alloc('B', 1);
  EXPECT_EQ(m.picture(), "AA|B");
  EXPECT_FALSE(m.strategy().usage().clairvoyant);
}

TEST(Hybrid, WrongPartsAreRefused) {
  for (const char* spec :
       {"hybrid", "hybrid(torch)", "hybrid(torch,torch,torch)", "hybrid(plan,torch):static=4",
        "hybrid(torch,torch):static=0", "hybrid(direct,offload(torch))", "hybrid(torch,plan)"}) {
    EXPECT_THROW(MemoryPicture{spec}, UsageError) << spec;
  }
}

/// A pointer that moves up in the arena and starts again when nothing lies there; above the arena
/// every block has a region of its own.
class SlowHybrid final : public SlowModel {
 public:
  explicit SlowHybrid(Bytes arena) : arena_(arena) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes at = round_up(top_, request.alignment);
    if (at + request.size <= arena_) {
      ++live_;
      top_ = at + request.size;
      return at;
    }
    return std::exchange(next_region_, next_region_ + round_up(request.size, 256));
  }
  void free(Bytes address, const FreeOrigin&) override {
    if (address < arena_ && --live_ == 0) top_ = 0;
  }

 private:
  Bytes arena_;
  Bytes top_ = 0;
  int live_ = 0;
  Bytes next_region_ = round_up(arena_, 256);
};

TEST(Hybrid, AgreesWithASlowModelOnRandomTraces) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SlowHybrid model(4000);
    expect_same_placements("hybrid(bump,direct):static=4000", model,
                           {.seed = seed, .steps = 5000, .live_at_most = 12});
  }
}

}  // namespace
}  // namespace memreplay
