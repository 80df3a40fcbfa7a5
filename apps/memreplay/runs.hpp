#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "report/results.hpp"

namespace memreplay {

/// What `replay` and `compare` do: read, replay every strategy on every trace, write the files.
struct Runs {
  std::vector<ReplayReport> reports;
  bool interrupted = false;
};

/// The strategies where the command line names none.
using DefaultStrategies = std::vector<StrategySpec> (*)(const Recording&, const RunOptions&);

/// Reads everything and opens every file before the first replay. After Ctrl-C the reports hold
/// what was found so far. Throws UsageError where there is nothing to replay.
Runs run_all(const InputOptions& input, const RunOptions& options, const ReportOptions& reports,
             DefaultStrategies defaults);

/// What the options want printed after the text: allocators' own summaries and failure reports.
std::string appendices(const RunOptions& options, const std::vector<ReplayReport>& reports);

}  // namespace memreplay
