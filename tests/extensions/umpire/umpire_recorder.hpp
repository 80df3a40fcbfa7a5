#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

#include "device/simulated_device.hpp"
#include "extensions/umpire/umpire_pool.hpp"
#include "strategy/allocators_corpus.hpp"

namespace memreplay {

/// A pool as the original's recorder drove it, and the rows that it wrote.
class UmpireRecorder {
 public:
  UmpireRecorder(const std::string& strategy, const nlohmann::json& run)
      : simulated_({.capacity = capacity_of(run)}),
        device_(simulated_),
        strategy_(
            make_strategy(parse_strategy(spec_of(strategy, run["config"])), {.device = device_})),
        pool_(dynamic_cast<UmpirePool&>(*strategy_)) {}

  RecordedRow play(const RecordedOperation& operation) {
    std::int64_t offset = -1;
    bool error = false;
    const auto block = live_.find(operation.id);
    if (operation.op == 'a' && operation.size != 0) {
      if (const auto got = pool_.allocate({.size = operation.size})) {
        offset = static_cast<std::int64_t>(got->address - kRecordedBase);
        live_[operation.id] = *got;
      } else {
        error = true;
      }
    } else if (operation.op == 'f' && block != live_.end()) {
      offset = static_cast<std::int64_t>(block->second.address - kRecordedBase);
      pool_.free(block->second.handle, {});
      live_.erase(block);
    } else if (operation.op == 'c') {
      pool_.coalesce();
    } else if (operation.op == 'R') {
      pool_.empty_cache();
    }
    ++device_.operation;
    const UmpireFigures& now = pool_.figures();
    RecordedRow row{offset};
    for (const std::uint64_t figure :
         {now.current_size, now.aligned_size, now.aligned_hwm, now.actual_size, now.actual_hwm,
          now.releasable_bytes, now.releasable_blocks, now.total_blocks,
          pool_.free_space().largest}) {
      row.push_back(static_cast<std::int64_t>(figure));
    }
    row.push_back(error);
    return row;
  }

  std::string device_calls() const { return device_.calls.text(); }
  const DeviceUsage& usage() const { return simulated_.usage(); }
  bool goes_beyond_the_original() const { return !pool_.testimony().remarks.empty(); }

 private:
  static std::optional<Bytes> capacity_of(const nlohmann::json& run) {
    const auto bytes = run["device_capacity"].get<Bytes>();
    return bytes == 0 ? std::nullopt : std::optional(bytes);
  }
  static std::string spec_of(const std::string& strategy, const nlohmann::json& config) {
    return fmt::format("{}:first={},next={},align={},heuristic={},value={}", strategy,
                       config["first"].dump(), config["next"].dump(), config["align"].dump(),
                       config["heuristic"].get<std::string>(), config["value"].dump());
  }

  SimulatedDevice simulated_;
  RecordedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  UmpirePool& pool_;
  std::map<std::uint64_t, Placement> live_;
};

/// Every run of the one pool ("quick", "list"); returns how many were compared.
inline int expect_umpire_runs(const std::string& strategy, const std::string& pool) {
  int compared = 0;
  for (const RecordedRun& run : recorded_runs("umpire")) {
    const nlohmann::json& expected = run.expected;
    if (expected["config"]["pool"] != pool) continue;
    SCOPED_TRACE(run.name);
    UmpireRecorder recorder(strategy, expected);
    expect_recorded_rows(run, [&](const auto& operation) { return recorder.play(operation); });
    EXPECT_EQ(recorder.device_calls(), expected["hash_device"]);
    EXPECT_EQ(recorder.usage().allocs, expected["device_allocs"]);
    EXPECT_EQ(recorder.usage().refusals, expected["device_refused"]);
    EXPECT_EQ(recorder.usage().frees, expected["device_frees"]);
    EXPECT_FALSE(recorder.goes_beyond_the_original());
    if (!expected["aborted_at"].is_null()) {
      recorder.play(run.operations[expected["aborted_at"].get<std::size_t>()]);
      EXPECT_TRUE(recorder.goes_beyond_the_original());
    }
    if (testing::Test::HasFailure()) return compared;
    ++compared;
  }
  return compared;
}

}  // namespace memreplay
