#include <gtest/gtest.h>

#include <fstream>

#include "analysis/run/answer.hpp"
#include "analysis/run/devices.hpp"
#include "analysis/run/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

memreplay::Run replayed(const std::string& rows, const std::string& strategy,
                        const DeviceShape& device, bool audit = false) {
  const std::string path = testing::TempDir() + "shrinking.csv";
  std::ofstream(path) << rows;
  ReplayQuestion question{.strategies = {parse_strategy(strategy)}};
  question.setup.device = device;
  question.setup.audit = audit;
  return answer(Inputs({.paths = {path}}), open_devices(question.setup), question, {})
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
            "others hold 250 MiB from event 2 on; they find up to 50 MiB less, and take it as soon "
            "as it is free");
}

TEST(ShrinkingDevice, ATenantOfAnEndlessDeviceIsRefused) {
  EXPECT_THROW(replayed(kInTurn, "direct", {.tenants = {{.size = kMiB}}}), UsageError);
}

}  // namespace
}  // namespace memreplay
