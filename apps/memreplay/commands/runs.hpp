#pragma once

#include <string>
#include <vector>

#include "inputs.hpp"
#include "options/options.hpp"
#include "replay/watch/outputs.hpp"
#include "report/results.hpp"

namespace memreplay {

/// What `replay` and `compare` do: read, replay every strategy on every trace, write the files.
struct Runs {
  std::vector<ReplayReport> reports;
  bool interrupted = false;
};

/// The strategies where the command line names none.
using DefaultStrategies = std::vector<StrategySpec> (*)(const Recording&, const RunOptions&);

/// Sees the replays that run_all makes. Of a run that is repeated, the first that counts.
class RunsWatcher {
 public:
  virtual ~RunsWatcher() = default;
  /// Before the runs on a trace.
  virtual void begin_trace(const Chosen& chosen, const Subject& subject) = 0;
  /// Before a replay; `log` writes down what is asked of its device.
  virtual void begin_run(const Trace& trace, const DeviceLog& log, ObserverGroup& observers) = 0;
  virtual void end_run() = 0;
};

/// Reads everything and opens every file before the first replay. After Ctrl-C the reports hold
/// what was found so far. Throws UsageError where there is nothing to replay.
Runs run_all(const InputOptions& input, const RunOptions& options, const ReportOptions& reports,
             DefaultStrategies defaults, RunsWatcher* watcher = nullptr);

/// What the options want printed after the text: allocators' own summaries and failure reports.
std::string appendices(const RunOptions& options, const std::vector<ReplayReport>& reports);

}  // namespace memreplay
