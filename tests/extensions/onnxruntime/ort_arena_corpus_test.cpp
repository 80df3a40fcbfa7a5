#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/simulated_device.hpp"
#include "extensions/onnxruntime/ort_arena.hpp"
#include "strategy/allocators_corpus.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kNone = UINT64_MAX;

std::int64_t signed_of(std::uint64_t value) { return static_cast<std::int64_t>(value); }

class Played {
 public:
  explicit Played(const RecordedRun& run)
      : expected_(run.expected),
        simulated_({.capacity = capacity(), .granularity = expected_["device_granule"]}),
        device_(simulated_),
        strategy_(make_strategy(parse_strategy(spec()), {.device = device_})),
        arena_(dynamic_cast<OrtArena&>(*strategy_)) {
    expect_recorded_rows(run, [&](const RecordedOperation& row) { return play(row); });
  }

  void expect_all() const {
    EXPECT_EQ(device_.operation, expected_["ops"]);
    EXPECT_EQ(device_.calls.text(), expected_["hash_device"]);
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

  RecordedRow play(const RecordedOperation& row) {
    std::uint64_t offset = kNone;
    if (row.op == 's') {
      arena_.empty_cache();
    } else if (row.op == 'f') {
      if (const auto block = live_.find(row.id); block != live_.end()) {
        offset = block->second.address - kRecordedBase;
        arena_.free(block->second.handle, {});
        live_.erase(block);
      }
    } else {
      if (const auto block = place(row)) {
        offset = block->address - kRecordedBase;
        live_[row.id] = *block;
      }
    }
    const OrtArena::Statistics& s = arena_.statistics();
    ++device_.operation;
    return {signed_of(offset),
            signed_of(s.in_use),
            signed_of(s.held),
            signed_of(s.most_in_use),
            s.allocs,
            s.reserves,
            s.extensions,
            s.shrinkages,
            signed_of(s.largest_alloc)};
  }

  std::optional<Placement> place(const RecordedOperation& row) {
    if (row.size == 0) return std::nullopt;
    if (row.op == 'r') return arena_.reserve(row.size);
    const auto block = arena_.allocate({.size = row.size});
    if (!block && first_failure_.is_null()) {
      std::string words = arena_.abilities().oom_report->oom_report({.size = row.size});
      words.pop_back();
      first_failure_ = {device_.operation, words};
    }
    return block;
  }

  const nlohmann::json& expected_;
  SimulatedDevice simulated_;
  RecordedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  OrtArena& arena_;
  std::unordered_map<std::uint64_t, Placement> live_;
  nlohmann::json first_failure_;
};

TEST(OrtArenaAgainstTheOriginal, GivesTheSameResultsOnEveryTrace) {
  if (!std::filesystem::exists(allocators_corpus())) {
    GTEST_SKIP() << "corpus/allocators is not here";
  }
  int compared = 0;
  for (const RecordedRun& run : recorded_runs("onnxruntime-bfc-arena")) {
    SCOPED_TRACE(run.name);
    Played(run).expect_all();
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_GE(compared, 129);
}

}  // namespace
}  // namespace memreplay
