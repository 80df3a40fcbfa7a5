#pragma once

#include "analysis/run/answer.hpp"
#include "report/parts/paragraphs.hpp"

/// What must be known beside the figures of the runs of one trace.
namespace memreplay {

/// Warnings, what is estimated and what allocators remark, each once.
void append_notes(Sheet& out, const TraceRuns& report);

/// What was not run, or not to the end.
void append_unfinished(Sheet& out, const TraceRuns& report);

}  // namespace memreplay
