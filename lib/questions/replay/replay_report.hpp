#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"
#include "run/answer.hpp"

namespace memreplay {

class JsonFields;

/// A block a run, the answer first and then the numbers; side by side by place where the runs are
/// ranked, with the lower bound, warnings, and the winner with its price. Allocators' own summaries
/// and reports follow, where they were asked for.
std::string to_text(const ReplayAnswer& answer, const TextStyle& style);

/// For ranked runs what the text says, as Markdown; for others the table.
std::string to_markdown(const ReplayAnswer& answer);

/// The schema "memreplay/1": every key present, an unknown value null, bytes as integers. More
/// than one trace becomes {"schema", "command", "results", "worst"}.
std::string to_json(const ReplayAnswer& answer);

/// Exact bytes under the JSON's names, a row for each run of each trace.
Table to_table(const ReplayAnswer& answer);

/// A row a run, in the order given: sizes in units for people. Below them the least that any could
/// come to, where that is asked for, and the plan, where there is one.
Table run_table(const std::vector<Run>& runs, bool with_lower_bound = false,
                const std::optional<PlannedFloor>& planned = {});

/// The keys of its JSON.
void replayed_fields(JsonFields& f, const TraceRuns& trace, bool ranked);

}  // namespace memreplay
