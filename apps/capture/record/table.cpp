#include <algorithm>

#include "core/text.hpp"
#include "record/answer.hpp"

namespace memreplay {

const TraceRuns* RecordAnswer::runs_of(const RecordedProcess& process) const {
  const auto found = std::ranges::find_if(replays.traces, [&](const TraceRuns& runs) {
    return !process.path.empty() && runs.trace.path == process.path;
  });
  return found == replays.traces.end() || found->runs.empty() ? nullptr : &*found;
}

Table to_table(const RecordAnswer& answer) {
  Table table;
  table.columns = {{"recording", true}, {"rank"},          {"events"}, {"peak requested"},
                   {"peak allocated"},  {"peak reserved"}, {"OOM"}};
  for (const RecordedProcess& process : answer.processes) {
    const TraceRuns* const runs = answer.runs_of(process);
    if (!runs) continue;
    const RunMetrics& metrics = runs->runs.front().metrics;
    table.rows.push_back({process.path, process.rank ? std::to_string(*process.rank) : "-",
                          std::to_string(runs->trace.events), exact_size(metrics.peak_requested),
                          exact_size(metrics.peak_allocated), exact_size(metrics.peak_reserved),
                          std::to_string(process.ooms)});
  }
  return table;
}

}  // namespace memreplay
