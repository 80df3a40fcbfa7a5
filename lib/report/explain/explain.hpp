#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/explain.hpp"
#include "analysis/tune/late_recordings.hpp"
#include "analysis/tune/tune.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "report/results.hpp"

namespace memreplay {

/// Why one device of a recording needed what it needed.
struct ExplainReport {
  TraceSummary trace;
  std::optional<VerifyRun> model_check;
  std::string strategy;                 ///< whose memory it is; empty: as recorded
  std::string conf;                     ///< the recorded setting
  std::vector<std::string> pool_names;  ///< by index; the default pool is empty
  std::vector<std::uint64_t> streams;   ///< handles, by index
  std::vector<std::string> remarks;     ///< sentences without which it would mislead
  Explanation explanation;
  std::optional<TuneResult> tuned;  ///< up to the event, on the same room
  LateVerdict late = {};            ///< what a late start leaves of its recommendation
};

/// Something that costs memory, and what would change it.
struct Finding {
  std::string what;
  Bytes bytes = 0;
  std::string remedy;  ///< a setting or a place in the code
};

/// Most bytes first.
std::vector<Finding> findings(const ExplainReport& report);

/// What a short search says. At an OOM it goes up to that request, else through the whole
/// recording. Empty where there was none, or it found nothing.
std::string advice(const ExplainReport& report);

std::string explain_text(const std::vector<ExplainReport>& reports, const TextStyle& style);
std::string explain_json(const std::vector<ExplainReport>& reports);
/// A row for every place that is live or pins memory.
Table explain_table(const std::vector<ExplainReport>& reports);

}  // namespace memreplay
