#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "support/fnv_hash.hpp"

// Traces with the results of other allocators' originals: corpus/allocators, whose README says what
// the fields mean.

namespace memreplay {

inline constexpr Address kRecordedBase = Address{1} << 44;

inline std::filesystem::path allocators_corpus() {
  return std::filesystem::path(MEMREPLAY_SHARED) / "corpus/allocators";
}

struct RecordedOperation {
  char op = 0;
  std::uint64_t id = 0;
  Bytes size = 0;
  Bytes alignment = 0;
};

inline std::vector<RecordedOperation> operations_of(const std::filesystem::path& trace) {
  std::ifstream in(trace);
  std::vector<RecordedOperation> operations;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::vector<std::string> fields;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) fields.push_back(cell);
    fields.resize(4);
    const auto number = [&](std::size_t i) {
      return fields[i].empty() ? 0 : std::stoull(fields[i]);
    };
    operations.push_back({fields[0][0], number(1), number(2), number(3)});
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
