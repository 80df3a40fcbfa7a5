#pragma once

#include <string>

#include "analysis/info/answer.hpp"

namespace memreplay {

/// Nothing that a recording holds was asked for in it: there is nothing to replay.
inline bool requests_nothing(const TraceSummary& trace) { return trace.allocs + trace.ooms == 0; }

/// What to record next time instead of a recording that starts late. `larger_before`: it misses the
/// program's largest step.
std::string better_recording(bool larger_before);

/// How a PyTorch program is recorded with its history: "record: torch…"
std::string how_to_record(const TraceSummary& trace);

/// Why a recording without a request answers nothing, and how to make one that does.
std::string nothing_requested_sentence(const TraceSummary& trace);

}  // namespace memreplay
