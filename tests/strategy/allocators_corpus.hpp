#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "device/device_wrapper.hpp"
#include "support/fnv_hash.hpp"
#include "support/recorded_rows.hpp"

// Traces with the results of other allocators' originals: corpus/allocators, whose README says what
// the fields mean.

namespace memreplay {

inline constexpr Address kRecordedBase = Address{1} << 44;

inline std::filesystem::path allocators_corpus() {
  return std::filesystem::path(MEMREPLAY_SHARED) / "corpus/allocators";
}

/// The device of the recordings: it notes every call, refused ones too.
class RecordedDevice final : public DeviceWrapper {
 public:
  using DeviceWrapper::DeviceWrapper;
  std::unique_ptr<DeviceModel> clone() const override { return inner().clone(); }

  std::optional<Address> obtain(Bytes size) override {
    const auto region = DeviceWrapper::obtain(size);
    note(region ? 0 : 1, region.value_or(kRecordedBase - 1), size);
    if (region) sizes_[*region] = size;
    return region;
  }
  void give_back(Address region) override {
    note(2, region, sizes_.at(region));
    DeviceWrapper::give_back(region);
  }

  std::uint64_t operation = 0;  ///< under way
  FnvHash calls;

 private:
  void note(std::uint64_t kind, Address at, Bytes size) {
    for (const std::uint64_t word : {operation, kind, at - kRecordedBase, size}) calls.add(word);
  }

  std::map<Address, Bytes> sizes_;
};

struct RecordedOperation {
  char op = 0;
  std::uint64_t id = 0;
  Bytes size = 0;
  Bytes alignment = 0;
};

inline std::vector<RecordedOperation> operations_of(const std::filesystem::path& trace) {
  std::vector<RecordedOperation> operations;
  for (const RecordedCells& row : recorded_rows(trace, 4)) {
    operations.push_back({row.texts[0][0], row.number(1), row.number(2), row.number(3)});
  }
  return operations;
}

/// The lines of an allocator's results.jsonl, with the operations of their traces.
struct RecordedRun {
  std::string name;  ///< trace and options
  nlohmann::json expected;
  std::vector<RecordedOperation> operations;

  bool asks(char op) const {
    return std::any_of(operations.begin(), operations.end(),
                       [&](const RecordedOperation& operation) { return operation.op == op; });
  }
};

inline std::vector<RecordedRun> recorded_runs(const std::string& allocator) {
  const std::filesystem::path folder = allocators_corpus() / allocator;
  std::ifstream in(folder / "results.jsonl");
  std::vector<RecordedRun> runs;
  for (std::string line; std::getline(in, line);) {
    nlohmann::json expected = nlohmann::json::parse(line);
    const auto trace = expected["trace"].get<std::string>();
    std::string name = trace + ' ' + expected["config_name"].get<std::string>();
    runs.push_back({std::move(name), std::move(expected), operations_of(folder / trace)});
  }
  return runs;
}

/// A row of the recording: the offset first, -1 where there is none.
using RecordedRow = std::vector<std::int64_t>;

/// `play(operation)` plays one and returns its row; every row is compared, up to the operation in
/// which the original itself ended.
template <typename Play>
void expect_recorded_rows(const RecordedRun& run, const Play& play) {
  FnvHash offsets, state;
  const auto& checkpoints = run.expected["checkpoints"];
  const auto done = run.expected["ops_done"].get<std::size_t>();
  std::size_t next = 0;
  RecordedRow row;
  for (std::size_t i = 0; i < done; ++i) {
    row = play(run.operations[i]);
    if (run.operations[i].op == 'a' || run.operations[i].op == 'r') {
      offsets.add(static_cast<std::uint64_t>(row[0]));
    }
    for (const std::int64_t value : row) state.add(static_cast<std::uint64_t>(value));
    if (next == checkpoints.size() || checkpoints[next][0] != i + 1) continue;
    ASSERT_EQ(offsets.text(), checkpoints[next][1]) << "after " << i + 1 << " operations";
    ASSERT_EQ(state.text(), checkpoints[next][2]) << "after " << i + 1 << " operations";
    ++next;
  }
  EXPECT_EQ(nlohmann::json(row), run.expected["last_row"]);
  EXPECT_EQ(offsets.text(), run.expected["hash_offsets"]);
  EXPECT_EQ(state.text(), run.expected["hash_state"]);
}

}  // namespace memreplay
