#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/device_wrapper.hpp"
#include "device/simulated_device.hpp"
#include "strategy/ort_arena.hpp"
#include "strategy/registry.hpp"
#include "support/fnv_hash.hpp"

// Traces with the results of the original: corpus/allocators, whose README says what the fields
// mean.

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 44;
constexpr std::uint64_t kNone = UINT64_MAX;

const std::filesystem::path& folder() {
  static const std::filesystem::path path =
      std::filesystem::path(MEMREPLAY_SHARED) / "corpus/allocators/onnxruntime-bfc-arena";
  return path;
}

struct Row {
  char op = 0;
  std::uint64_t id = 0;
  Bytes size = 0;
};

std::vector<Row> rows_of(const std::string& trace) {
  std::ifstream in(folder() / trace);
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::stringstream cells(line);
    std::string op, id, size;
    std::getline(std::getline(std::getline(cells, op, ','), id, ','), size, ',');
    rows.push_back(
        {op.at(0), id.empty() ? 0 : std::stoull(id), size.empty() ? 0 : std::stoull(size)});
  }
  return rows;
}

/// Sums up the calls that a device gets, each with the number of the operation under way.
class SummedDevice final : public DeviceWrapper {
 public:
  SummedDevice(DeviceModel& device, const std::uint64_t& operation)
      : DeviceWrapper(device), operation_(operation) {}

  std::unique_ptr<DeviceModel> clone() const override { return inner().clone(); }
  std::optional<Address> obtain(Bytes size) override {
    const auto at = DeviceWrapper::obtain(size);
    add(at ? 0 : 1, at ? *at - kBase : kNone, size);
    if (at) sizes_[*at] = size;
    return at;
  }
  void give_back(Address region) override {
    add(2, region - kBase, sizes_.at(region));
    DeviceWrapper::give_back(region);
  }
  std::string text() const { return hash_.text(); }

 private:
  void add(std::uint64_t kind, std::uint64_t offset, Bytes size) {
    for (const std::uint64_t word : {operation_, kind, offset, size}) hash_.add(word);
  }

  const std::uint64_t& operation_;
  std::unordered_map<Address, Bytes> sizes_;
  FnvHash hash_;
};

class Played {
 public:
  explicit Played(const nlohmann::json& expected)
      : expected_(expected),
        simulated_({.capacity = capacity(), .granularity = expected["device_granule"]}),
        device_(simulated_, done_),
        strategy_(make_strategy(parse_strategy(spec()), {.device = device_})),
        arena_(dynamic_cast<OrtArena&>(*strategy_)) {
    for (const Row& row : rows_of(expected["trace"])) {
      play(row);
      check_checkpoint();
      if (testing::Test::HasFailure()) return;
    }
  }

  void expect_all() const {
    EXPECT_EQ(done_, expected_["ops"]);
    EXPECT_EQ(offsets_.text(), expected_["hash_offsets"]);
    EXPECT_EQ(state_.text(), expected_["hash_state"]);
    EXPECT_EQ(device_.text(), expected_["hash_device"]);
    EXPECT_EQ(first_failure_, expected_["first_failure"]);
  }

 private:
  std::optional<Bytes> capacity() const {
    const Bytes bytes = expected_["device_capacity"];
    return bytes == 0 ? std::nullopt : std::optional(bytes);
  }
  std::string spec() const {
    std::string spec = "ort-arena:";
    for (const auto& [key, value] : expected_["config"].items()) {
      spec += key + "=" + value.dump() + ",";
    }
    spec.pop_back();
    return spec;
  }

  void play(const Row& row) {
    std::uint64_t offset = kNone;
    if (row.op == 's') {
      arena_.empty_cache();
    } else if (row.op == 'f') {
      if (const auto block = live_.find(row.id); block != live_.end()) {
        offset = block->second.address - kBase;
        arena_.free(block->second.handle, {});
        live_.erase(block);
      }
    } else {
      if (const auto block = place(row)) {
        offset = block->address - kBase;
        live_[row.id] = *block;
      }
      offsets_.add(offset);
    }
    const OrtArena::Statistics& s = arena_.statistics();
    for (const std::uint64_t word : {offset, s.in_use, s.held, s.most_in_use}) state_.add(word);
    for (const std::int64_t word : {s.allocs, s.reserves, s.extensions, s.shrinkages}) {
      state_.add(static_cast<std::uint64_t>(word));
    }
    state_.add(s.largest_alloc);
    ++done_;
  }

  std::optional<Placement> place(const Row& row) {
    if (row.size == 0) return std::nullopt;
    if (row.op == 'r') return arena_.reserve(row.size);
    const auto block = arena_.allocate({.size = row.size});
    if (!block && first_failure_.is_null()) {
      std::string words = arena_.abilities().oom_report->oom_report({.size = row.size});
      words.pop_back();
      first_failure_ = {done_, words};
    }
    return block;
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

  const nlohmann::json& expected_;
  std::uint64_t done_ = 0;
  SimulatedDevice simulated_;
  SummedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  OrtArena& arena_;
  std::unordered_map<std::uint64_t, Placement> live_;
  FnvHash offsets_;
  FnvHash state_;
  nlohmann::json first_failure_;
  std::size_t next_checkpoint_ = 0;
};

TEST(OrtArenaAgainstTheOriginal, GivesTheSameResultsOnEveryTrace) {
  if (!std::filesystem::exists(folder())) GTEST_SKIP() << "corpus/allocators is not here";
  std::ifstream results(folder() / "results.jsonl");
  int compared = 0;
  for (std::string line; std::getline(results, line); ++compared) {
    const auto expected = nlohmann::json::parse(line);
    SCOPED_TRACE(expected["trace"].get<std::string>() + " " +
                 expected["config_name"].get<std::string>());
    Played(expected).expect_all();
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 129);
}

}  // namespace
}  // namespace memreplay
