#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/tune/late_recordings.hpp"
#include "analysis/tune/tune.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "report/results.hpp"

namespace memreplay {

/// A search over the settings of one or several traces.
struct TuneReport {
  std::vector<TraceSummary> traces;
  std::vector<DeviceSummary> devices;                  ///< by trace
  std::vector<std::optional<VerifyRun>> model_checks;  ///< by trace
  std::vector<std::string> remarks;                    ///< sentences without which it would mislead
  bool interrupted = false;
  TuneResult result;
  LateVerdict late = {};  ///< what recordings that start late leave of the recommendation
};

/// "export PYTORCH_CUDA_ALLOC_CONF=…"
std::string export_line(const TuneReport& report, const Setting& setting);

std::string tune_text(const TuneReport& report, const TextStyle& style);
std::string tune_json(const TuneReport& report);
/// A row for every distinct outcome.
Table tune_table(const TuneReport& report);

}  // namespace memreplay
