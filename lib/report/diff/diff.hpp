#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diff/recordings.hpp"
#include "analysis/diff/strategies.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "report/results.hpp"

namespace memreplay {

/// One device of each of two recordings, as recorded or replayed under one strategy.
struct RecordingsReport {
  TraceSummary a;
  TraceSummary b;
  std::optional<RunReport> a_run;  ///< nothing: as recorded
  std::optional<RunReport> b_run;
  std::optional<DeviceSummary> device;  ///< of the replays
  RecordingsDiff diff;
};

std::string recordings_diff_text(const RecordingsReport& report, const TextStyle& style);
std::string recordings_diff_json(const RecordingsReport& report);
/// A row a place, for CSV and Markdown.
Table recordings_diff_table(const RecordingsReport& report);

/// One device of a recording under two strategies.
struct StrategiesReport {
  TraceSummary trace;
  DeviceSummary device;
  std::array<RunReport, 2> runs;
  std::vector<std::uint64_t> streams;  ///< handles, by index
  std::optional<VerifyRun> model_check;
  StrategiesDiff diff;
};

std::string strategies_diff_text(const StrategiesReport& report, const TextStyle& style);
std::string strategies_diff_json(const StrategiesReport& report);
/// A row for each strategy at each event at which they part, and at their peaks.
Table strategies_diff_table(const StrategiesReport& report);

}  // namespace memreplay
