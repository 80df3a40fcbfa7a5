#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "report/run/sections.hpp"
#include "report/runs.hpp"

namespace memreplay {
namespace {

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
