#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/rewrite.hpp"
#include "program/trace_summary.hpp"
#include "trace/trace.hpp"
#include "verify/subject.hpp"

namespace memreplay {

// What the extension what_if makes of recordings. Where it is not built each of these functions
// throws UsageError, which says so.

/// Which values of a parameter a program was recorded at, and which one is asked for.
struct Variation {
  std::string name;
  std::vector<std::int64_t> values;  ///< the recordings' values, in their order; none twice
  std::optional<std::int64_t> at;
};

/// Throws UsageError where the text is no edit: "VERB:KEY=VALUE,…".
void check_edit(const std::string& edit);

/// The recording with the edits made one after the other. Throws UsageError where one selects
/// nothing, or needs what the recording lacks.
MadeRecordings edited(const Subject& subject, std::span<const std::string> edits);
/// Each of them edited: the likeliest ways of the others stand beside those of the likeliest.
MadeRecordings edited(const MadeRecordings& made, std::span<const std::string> edits);

/// The program of these recordings at the value that is asked for, on each device. Throws
/// UsageError where they are not of one program.
std::vector<MadeRecordings> predicted_at(const std::deque<Recording>& recordings,
                                         const Variation& variation, std::optional<int> gpu);

/// Throws UsageError "OPTION: …" where the text is no selector: "KEY=VALUE,…".
void check_selector(const std::string& option, const std::string& selector);
/// What a selector picks of a trace. O(events + places log places).
SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const std::string& selector);

}  // namespace memreplay
