#pragma once

#include <vector>

#include "report/parts/table.hpp"
#include "report/results.hpp"

namespace memreplay {

/// A row a run, in the order given: sizes in units for people.
Table run_table(const std::vector<RunReport>& runs);

/// The same for programs: exact bytes under the JSON's names, a row for each run of each trace.
Table run_numbers(const std::vector<ReplayReport>& reports);

/// The table of one file's verification, for CSV and Markdown.
Table verify_table(const std::vector<VerifyReport>& reports);

}  // namespace memreplay
