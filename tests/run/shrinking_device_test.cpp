#include <gtest/gtest.h>

#include "core/error.hpp"
#include "run/answer.hpp"
#include "run/devices.hpp"
#include "run/question.hpp"
#include "trace/snapshot_copies.hpp"

namespace memreplay {
namespace {

memreplay::Run replayed(const std::string& rows, const std::string& strategy, Setup setup,
                        bool audit = false) {
  const TemporaryFile trace(rows, ".csv");
  setup.audit = audit;
  const ReplayQuestion question{.strategies = {parse_strategy(strategy)}, .setup = setup};
  return answer(Inputs({.paths = {trace.path()}}), open_devices(question.setup), question, {})
      .traces.at(0)
      .runs.at(0);
}

/// Three blocks of 100 MiB in turn.
const std::string kInTurn =
    "op,id,size\n"
    "a,0,104857600\nf,0,\n"
    "a,1,104857600\nf,1,\n"
    "a,2,104857600\nf,2,\n";

TEST(ShrinkingDevice, ATenantTakesMemoryFromItsFirstEventToItsLast) {
  for (const bool audit : {false, true}) {
    const memreplay::Run run = replayed(
        kInTurn, "direct",
        {.capacity = 300 * kMiB, .tenants = {{.size = 250 * kMiB, .from = 2, .to = 4}}}, audit);
    EXPECT_EQ(run.metrics.ooms, 1u);
    ASSERT_TRUE(run.metrics.first_oom);
    EXPECT_EQ(run.metrics.first_oom->event, 2u);
    EXPECT_EQ(run.metrics.first_oom->free, 50 * kMiB);
  }
}

TEST(ShrinkingDevice, TenantsAddUpAndOneMayStay) {
  const std::vector<OtherTenant> tenants = {{.size = 120 * kMiB, .from = 0},
                                            {.size = 120 * kMiB, .from = 2, .to = 3}};
  const memreplay::Run run =
      replayed(kInTurn, "direct", {.capacity = 300 * kMiB, .tenants = tenants});
  EXPECT_EQ(run.metrics.ooms, 1u);
  EXPECT_EQ(run.metrics.first_oom->event, 2u);
}

TEST(ShrinkingDevice, TorchKeepsItsCacheAndReturnsItWhereTheDeviceIsFull) {
  const std::string rows = kInTurn + "a,3,157286400\n";
  const std::vector<OtherTenant> tenants = {{.size = 150 * kMiB, .from = 2}};
  const memreplay::Run run = replayed(rows, "torch", {.capacity = 300 * kMiB, .tenants = tenants});
  EXPECT_EQ(run.metrics.ooms, 0u);
  EXPECT_EQ(run.metrics.oom_retries, 1u);
  const memreplay::Run larger = replayed(
      rows, "torch", {.capacity = 300 * kMiB, .tenants = {{.size = 250 * kMiB, .from = 2}}});
  EXPECT_EQ(larger.metrics.ooms, 1u);
  ASSERT_EQ(larger.metrics.remarks.size(), 1u);
  EXPECT_EQ(larger.metrics.remarks[0],
            "others hold 250 MiB from event 2 on; up to 50 MiB of it was not free at first, and is "
            "taken as soon as it is");
}

TEST(ShrinkingDevice, ATenantOfAnEndlessDeviceIsRefused) {
  EXPECT_THROW(replayed(kInTurn, "direct", {.tenants = {{.size = kMiB}}}), UsageError);
}

/// A pool with weights, that sleeps, and something outside of it, then more.
const std::string kSleeping =
    "op,id,size,pool,tag\n"
    "a,0,104857600,1,\n"
    "a,1,20971520,,\n"
    "m,,,1,sleep\n"
    "m,,,1,wake\n"
    "a,2,41943040,,\n"
    "m,,,1,sleep\n";

TEST(Sleep, WhatIsNotOfThePoolAsleepStaysBehind) {
  const memreplay::Run run = replayed(kSleeping, "torch", {.capacity = kGiB});
  ASSERT_EQ(run.metrics.sleeps.size(), 3u);
  const PoolSleep& first = run.metrics.sleeps[0];
  EXPECT_EQ(first.event, 2u);
  EXPECT_EQ(first.asleep, 100 * kMiB);
  EXPECT_EQ(first.residue, 20 * kMiB);
  EXPECT_EQ(first.free, kGiB - 20 * kMiB);
  EXPECT_TRUE(run.metrics.sleeps[1].wakes);
  EXPECT_EQ(run.metrics.sleeps[1].residue, 20 * kMiB);
  EXPECT_EQ(run.metrics.sleeps[2].residue, 60 * kMiB);
  ASSERT_EQ(run.metrics.remarks.size(), 1u);
  EXPECT_EQ(run.metrics.remarks[0],
            "asleep from event 2 on: 100 MiB released, 20 MiB stay reserved (residue), 1004 MiB "
            "free for others; of 3 sleeps and wakes, most stays reserved at event 5: 60 MiB");
}

/// While the pool sleeps something else needs its memory, and does not return all of it.
const std::string kTrainedInBetween =
    "op,id,size,pool,tag\n"
    "a,0,104857600,1,\n"
    "m,,,1,sleep\n"
    "a,1,94371840,,\n"
    "f,1,,,\n"
    "m,,,1,wake\n"
    "a,2,20971520,1,\n";

TEST(Sleep, WhatAPoolReturnedServesOthersAndIsMissedWhereItWakesBesideThem) {
  for (const bool audit : {false, true}) {
    const memreplay::Run run =
        replayed(kTrainedInBetween, "torch", {.capacity = 120 * kMiB}, audit);
    EXPECT_EQ(run.metrics.ooms, 0u);
    ASSERT_EQ(run.metrics.sleeps.size(), 2u);
    EXPECT_EQ(run.metrics.sleeps[1].residue, 90 * kMiB);
    EXPECT_EQ(run.metrics.sleeps[1].missing, 70 * kMiB);
    EXPECT_EQ(run.metrics.remarks.at(0),
              "asleep from event 1 on: 100 MiB released, 0 B stay reserved (residue), 120 MiB free "
              "for others; of 2 sleeps and wakes, most stays reserved at event 4: 90 MiB; the wake "
              "at event 4 finds 70 MiB less than it needs");
  }
}

TEST(Sleep, WhatIsReturnedOfASleepingPoolIsNotThereTwice) {
  const std::string rows =
      "op,id,size,pool,tag\n"
      "a,0,104857600,1,\n"
      "m,,,1,sleep\n"
      "f,0,,,\n"
      "a,1,94371840,,\n"
      "a,2,94371840,,\n";
  const memreplay::Run run = replayed(rows, "direct", {.capacity = 120 * kMiB});
  EXPECT_EQ(run.metrics.ooms, 1u);
}

TEST(Sleep, AnEndlessDeviceHasNoFigureForOthers) {
  EXPECT_FALSE(replayed(kSleeping, "torch", {}).metrics.sleeps.at(0).free);
}

TEST(Sleep, MarkersOfOtherTextsAreNone) {
  const std::string rows = "op,id,size,tag\na,0,1000,\nm,,,step\n";
  EXPECT_TRUE(replayed(rows, "torch", {}).metrics.sleeps.empty());
}

}  // namespace
}  // namespace memreplay
