#include "questions/replay/sections.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/runs.hpp"

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
            "sim and cuda:0 diverge at event 7: 512 B allocated and 4 MiB reserved on the first, "
            "512 B and 2 MiB on the second");
}

TEST(RealText, WhatFoundNoMemoryIsSaid) {
  auto run = on("cuda:0", false);
  run.metrics.real->not_adopted = 1;
  ASSERT_EQ(real_phrases(run).size(), 2u);
  EXPECT_EQ(real_phrases(run).back(), "1 segment from before the recording did not fit on cuda:0");
}

using Counters = std::vector<std::pair<std::string, std::int64_t>>;

// All that the table shows, 0 but for what is given.
Counters stats(const std::vector<std::pair<std::string, std::int64_t>>& given) {
  std::map<std::string, std::int64_t> all = {{"num_ooms", 0}, {"num_alloc_retries", 0}};
  for (const char* column : {".current", ".peak", ".allocated", ".freed"}) {
    for (const char* key :
         {"allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes",
          "inactive_split_bytes", "allocation", "active", "segment", "inactive_split"}) {
      for (const char* pool : {".all", ".large_pool", ".small_pool"}) {
        all[std::string(key) + pool + column] = 0;
      }
    }
    all[std::string("oversize_allocations") + column] = 0;
    all[std::string("oversize_segments") + column] = 0;
  }
  for (const auto& [key, value] : given) all.at(key) = value;
  return {all.begin(), all.end()};
}

// The first line that begins with this title.
std::string line(const std::string& title, const Counters& counters) {
  const std::string table = torch_summary(counters, 0).value();
  const std::size_t from = table.find("| " + title);
  return table.substr(from, table.find('\n', from) - from);
}

TEST(TorchSummary, SizesChangeTheirUnitAt768OfTheNext) {
  EXPECT_EQ(line("Allocated", stats({{"allocated_bytes.all.current", 768 * 1024 - 1},
                                     {"allocated_bytes.all.peak", 768 * 1024},
                                     {"allocated_bytes.all.allocated", 805306367},
                                     {"allocated_bytes.all.freed", 864691128455135232}})),
            "| Allocated memory      | 786431 B   |    768 KiB | 786431 KiB |    768 PiB |");
}

TEST(TorchSummary, CountsChangeTheirUnitAt750OfTheNext) {
  EXPECT_EQ(line("Allocations", stats({{"allocation.all.current", 749999},
                                       {"allocation.all.peak", 750000},
                                       {"allocation.all.allocated", 750000000},
                                       {"allocation.all.freed", 1000000000000}})),
            "| Allocations           |  749999    |     750 K  |     750 M  | 1000000 M  |");
}

TEST(TorchSummary, ThePoolsHaveTheUnitsOfTheirSum) {
  EXPECT_EQ(line("      from small", stats({{"allocated_bytes.all.current", 1000000000},
                                            {"allocated_bytes.small_pool.current", 5000},
                                            {"allocated_bytes.small_pool.peak", 5000}})),
            "|       from small pool |      0 MiB |   5000 B   |      0 B   |      0 B   |");
}

TEST(TorchSummary, NamesTheDeviceAndWhatFailed) {
  const std::string table =
      torch_summary(stats({{"num_ooms", 123456}, {"num_alloc_retries", 7}}), 12).value();
  EXPECT_NE(table.find("PyTorch CUDA memory summary, device ID 12                |\n"), table.npos);
  EXPECT_NE(table.find("CUDA OOMs: 123456       |        cudaMalloc retries: 7         |\n"),
            table.npos);
}

TEST(TorchSummary, ThereIsNoneWithoutPytorchsStatistics) {
  EXPECT_FALSE(torch_summary({}, 0));
  EXPECT_FALSE(torch_summary({{"num_ooms", 0}, {"num_alloc_retries", 0}}, 0));
}

TEST(TorchSummary, EveryRunHasItsOwnUnderItsName) {
  TraceRuns report;
  report.runs = {run_of("torch", {}), run_of("bump", {})};
  report.runs[0].metrics.counters = stats({});
  const std::string text = torch_summaries({report});
  EXPECT_EQ(text.rfind("\n torch:\n|====", 0), 0u);
  EXPECT_NE(text.find("\n bump: no summary, it does not keep PyTorch's statistics\n"), text.npos);
}

TEST(TorchSummary, EqualsWhatPytorchPrintedForEveryRecording) {
  const std::filesystem::path corpus = std::filesystem::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no recordings beside the project";
  std::size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream in(file.path());
    const auto sidecar = nlohmann::json::parse(in);
    Counters counters;
    for (const auto& [key, value] : sidecar.at("memory_stats").items()) {
      counters.emplace_back(key, value.get<std::int64_t>());
    }
    EXPECT_EQ(torch_summary(counters, 0), sidecar.at("memory_summary").get<std::string>())
        << file.path();
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

}  // namespace

}  // namespace memreplay
