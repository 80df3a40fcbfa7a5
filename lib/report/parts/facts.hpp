#pragma once

#include <optional>
#include <string>

#include "program/trace_summary.hpp"

/// What a recording says of its program, for every answer: the keys, and the sentences.
namespace memreplay {

class JsonFields;

/// whole, ends, starts. Unset: there is no recording, such as of a pasted text.
void facts_fields(JsonFields& f, const std::optional<RecordingFacts>& facts);

/// "bound": "lower" where a recording that ends early makes figures lower bounds, else null.
void bound_field(JsonFields& f, bool at_least);

/// "the recording ends at the OOM of its first step; the rest of that step (backward, optimizer) is
/// not in it"
std::string early_end_phrase(const EarlyEnd& end);

/// "Peaks are lower bounds: the recording ends …" Empty where it does not end early.
std::string lower_bounds_sentence(const TraceSummary& trace);

/// What to record to know more than lower bounds. Empty where the recording does not end early.
std::string whole_recording_sentence(const TraceSummary& trace);

/// "5226 MiB", "at least 5226 MiB".
std::string bounded(const std::string& size, bool at_least);

}  // namespace memreplay
