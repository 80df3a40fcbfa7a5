#include <gtest/gtest.h>

#include "report/run/sections.hpp"
#include "report/runs.hpp"

namespace memreplay {
namespace {

TraceRuns report_of(Run run) {
  TraceRuns report;
  report.runs = {std::move(run)};
  return report;
}

Run on(const char* device, bool faults) {
  auto run = run_of("torch", {});
  run.device.text = device;
  run.device.kind = faults ? "host" : "cuda";
  run.metrics.peak_requested = 100 * kMiB;
  MeasuredTimes times;
  times.ops.add(50);
  times.strategy.add(20);
  times.calls[static_cast<std::size_t>(CallKind::alloc)].host.add(30);
  run.metrics.times = times;
  RealUse real;
  real.memory.peak_used = 125 * kMiB;
  if (faults) real.memory.minor_faults = 7;
  real.touched.filled = 2;
  real.touched.checked = 2;
  real.touched.filled_bytes = kMiB;
  run.metrics.real = real;
  return run;
}

TEST(RealText, TheTableLaysWhatIsUsedBesideWhatWasAskedFor) {
  EXPECT_EQ(
      measured_table(report_of(on("host", true))),
      " measured  requested      RSS  ratio  faults  per op    p50    p99    max  strategy\n"
      " torch       100 MiB  125 MiB  1.250       7   50 ns  50 ns  50 ns  50 ns     20 ns\n");
}

TEST(RealText, WithoutFaultsThereIsNoColumnForThem) {
  const std::string table = measured_table(report_of(on("cuda:0", false)));
  EXPECT_EQ(table.find("faults"), std::string::npos);
  EXPECT_NE(table.find("driver's"), std::string::npos);
}

TEST(RealText, ASimulatedRunHasNoMeasuredTable) {
  EXPECT_EQ(measured_table(report_of(run_of("torch", {}))), "");
  EXPECT_EQ(calls_table(run_of("torch", {})), "");
}

TEST(RealText, OnlyCallsThatWereMadeAreListed) {
  const std::string calls = calls_table(on("host", true));
  EXPECT_NE(calls.find(" alloc "), std::string::npos);
  EXPECT_EQ(calls.find(" free "), std::string::npos);
}

TEST(RealText, SaysWhereTwoDevicesPart) {
  auto run = on("cuda:0", false);
  EXPECT_EQ(agreement_phrase(run), "");
  run.agreement = Agreement{.with = "sim", .events = 1500};
  EXPECT_EQ(agreement_phrase(run), "sim and cuda:0 hold the same bytes after each of 1,500 events");
  run.agreement->first_difference = {7, 512, 2 * kMiB, 512, 4 * kMiB};
  EXPECT_EQ(agreement_phrase(run),
            "sim and cuda:0 part at event 7: 512 B allocated and 4 MiB reserved on the one, 512 B "
            "and 2 MiB on the other");
}

TEST(RealText, WhatFoundNoMemoryIsSaid) {
  auto run = on("cuda:0", false);
  run.metrics.real->not_adopted = 1;
  ASSERT_EQ(real_phrases(run).size(), 2u);
  EXPECT_EQ(real_phrases(run).back(),
            "1 segment from before the recording found no memory on cuda:0");
}

}  // namespace
}  // namespace memreplay
