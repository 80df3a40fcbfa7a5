#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/bfc/allocator.hpp"
#include "strategy/registry.hpp"
#include "support/fnv_hash.hpp"
#include "support/recorded_rows.hpp"

// Traces with the results of the original: corpus/bfc, whose README says what the fields mean.

namespace memreplay::bfc {
namespace {

constexpr Address kBase = Address{1} << 44;

const std::filesystem::path& folder() {
  static const std::filesystem::path path = std::filesystem::path(MEMREPLAY_SHARED) / "corpus/bfc";
  return path;
}

std::vector<std::string> names() {
  std::vector<std::string> found;
  const std::string suffix = ".expected.json";
  for (const auto& file : std::filesystem::directory_iterator(folder())) {
    const std::string name = file.path().filename();
    if (name.ends_with(suffix)) found.push_back(name.substr(0, name.size() - suffix.size()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Row {
  char op = 0;
  std::uint64_t id = 0;
  Request request;  ///< in 's' rows: the frontier is its size
};

std::vector<Row> rows_of(const std::string& name) {
  std::vector<Row> rows;
  for (const RecordedCells& row : recorded_rows(folder() / (name + ".trace.csv"), 6)) {
    rows.push_back({row.texts[0][0], row.number(1), {}});
    Request& request = rows.back().request;
    request.size = row.number(2);
    request.freed_before = row.number(3);
    request.alignment = row.number(4);
    request.upper_end = row.texts[5] == "upper";
  }
  return rows;
}

std::string spec_of(const nlohmann::json& config) {
  std::string spec = "bfc:name=GPU_0_bfc";
  for (const auto& [key, value] : config.items()) {
    if (key == "sub_limit" || key == "sub_gap" || value.is_null()) continue;
    spec += value.is_string() ? fmt::format(",{}=[{}]", key, value.get<std::string>())
                              : fmt::format(",{}={}", key, value.dump());
  }
  return spec;
}

class Played {
 public:
  explicit Played(const std::string& name)
      : expected_(nlohmann::json::parse(std::ifstream(folder() / (name + ".expected.json")))) {
    const nlohmann::json& config = expected_["config"];
    SimulatedDeviceOptions options{.granularity = 1, .address_gap = config["sub_gap"].get<Bytes>()};
    if (!config["sub_limit"].is_null()) options.capacity = config["sub_limit"].get<Bytes>();
    device_ = std::make_unique<SimulatedDevice>(options);
    strategy_ = make_strategy(parse_strategy(spec_of(config)), {.device = *device_});
    for (const Row& row : rows_of(name)) {
      play(row);
      check_checkpoint();
      if (testing::Test::HasFailure()) return;
    }
  }

  const nlohmann::json& expected() const { return expected_; }
  const Allocator& bfc() const { return dynamic_cast<const Allocator&>(*strategy_); }
  const DeviceUsage& device() const { return device_->usage(); }
  std::string offsets() const { return offsets_.text(); }
  std::string state() const { return state_.text(); }
  const std::string& first_report() const { return first_report_; }

 private:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  void play(const Row& row) {
    std::uint64_t offset = kNone;
    if (row.op == 'a') {
      std::optional<Placement> placement;
      if (row.request.size != 0) {
        placement = strategy_->allocate(row.request);
        if (!placement && first_report_.empty())
          first_report_ = strategy_->abilities().oom_report->oom_report(row.request);
      }
      if (placement) {
        offset = placement->address - kBase;
        live_[row.id] = *placement;
      }
      offsets_.add(offset);
    } else if (row.op == 'f') {
      if (const auto block = live_.find(row.id); block != live_.end()) {
        offset = block->second.address - kBase;
        strategy_->free(block->second.handle, {});
        live_.erase(block);
      }
    } else {
      strategy_->abilities().steps->safe_frontier(row.request.size);
    }
    state_.add(offset);
    state_.add(bfc().statistics().bytes_in_use);
    state_.add(device_->usage().held);
    state_.add(strategy_->free_space().largest);
    ++done_;
  }

  void check_checkpoint() {
    const auto& checkpoints = expected_["checkpoints"];
    if (next_checkpoint_ == checkpoints.size()) return;
    const auto& checkpoint = checkpoints[next_checkpoint_];
    if (checkpoint[0] != done_) return;
    ++next_checkpoint_;
    EXPECT_EQ(offsets_.text(), checkpoint[1]) << "after " << done_ << " operations";
    EXPECT_EQ(state_.text(), checkpoint[2]) << "after " << done_ << " operations";
  }

  nlohmann::json expected_;
  std::unique_ptr<SimulatedDevice> device_;
  std::unique_ptr<Strategy> strategy_;
  std::unordered_map<std::uint64_t, Placement> live_;
  FnvHash offsets_;
  FnvHash state_;
  std::uint64_t done_ = 0;
  std::size_t next_checkpoint_ = 0;
  std::string first_report_;
};

std::string chunks_hash(const Allocator& bfc) {
  FnvHash hash;
  bfc.chunks().for_each([&](Handle handle) {
    const Piece& chunk = bfc.chunks()[handle];
    hash.add(chunk.address - kBase);
    hash.add(chunk.size);
    hash.add(chunk.in_use ? chunk.requested : 0);
    hash.add(chunk.in_use ? 1 : 0);
  });
  return hash.text();
}

nlohmann::json regions_of(const Allocator& bfc) {
  nlohmann::json regions = nlohmann::json::array();
  for (const SegmentInfo& region : bfc.memory_state().segments) {
    regions.push_back({region.address - kBase, region.size});
  }
  return regions;
}

void expect_statistics(const Allocator& bfc, const nlohmann::json& expected) {
  const Counters counters = bfc.testimony().counters;
  for (const auto& [key, value] : expected.items()) {
    const auto found = std::find_if(counters.begin(), counters.end(),
                                    [&](const auto& counter) { return counter.first == key; });
    ASSERT_NE(found, counters.end()) << key;
    EXPECT_EQ(found->second, value.get<std::int64_t>()) << key;
  }
}

// Before the report stand warnings of requests for 0 bytes, after it the harness' own speed.
std::string recorded_report(const std::string& name) {
  std::ifstream in(folder() / (name + ".first_oom_dump.txt"));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    const bool begins = line.find("(rounded to ") != std::string::npos;
    if (text.empty() && !begins) continue;
    if (line.find(" ops/s ") == std::string::npos) text += line + '\n';
  }
  return text;
}

TEST(BfcAgainstTheOriginal, GivesTheSameResultsOnEveryTrace) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "corpus/bfc is not here";
  int compared = 0;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Played played(name);
    const nlohmann::json& expected = played.expected();
    EXPECT_EQ(played.offsets(), expected["hash_offsets"]);
    EXPECT_EQ(played.state(), expected["hash_state"]);
    EXPECT_EQ(chunks_hash(played.bfc()), expected["hash_chunks"]);
    EXPECT_EQ(regions_of(played.bfc()), expected["regions"]);
    EXPECT_EQ(played.bfc().occupancy_map(), expected["occupancy"]);
    EXPECT_EQ(played.bfc().next_region(), expected["next_region_bytes"]);
    EXPECT_EQ(played.device().allocs, expected["sub_allocs"]);
    EXPECT_EQ(played.device().refusals, expected["sub_failed"]);
    const auto fragmentation = played.bfc().fragmentation();
    EXPECT_EQ(fragmentation ? nlohmann::json(*fragmentation) : nlohmann::json(),
              expected["fragmentation"]);
    expect_statistics(played.bfc(), expected["stats"]);
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST(BfcAgainstTheOriginal, ReportsTheFirstFailureInTheSameWords) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "corpus/bfc is not here";
  int compared = 0;
  for (const std::string& name : names()) {
    const std::string recorded = recorded_report(name);
    if (recorded.empty()) continue;
    SCOPED_TRACE(name);
    EXPECT_EQ(Played(name).first_report(), recorded);
    ++compared;
  }
  EXPECT_GE(compared, 3);
}

}  // namespace
}  // namespace memreplay::bfc
