#pragma once

#include <vector>

#include "program/facts.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The annotated scopes of the trace's device, by their beginning, outer before inner ones. Scopes
/// in which nothing happened are left out; one that does not end lasts to the end.
std::vector<Phase> annotated_phases(const Recording& recording, const Trace& trace);

/// From markers (which end a step); else from annotations: ProfilerStep, or the program's outermost
/// scope that recurs as often as its optimizer's step (without an optimizer: most often), or that
/// step itself, which ends one; else from requests that repeat at least three times, through half
/// the recording: the shortest period of their stacks (of their sizes, where there are none). What
/// repeats is no step where it is a loop of fewer than four requests, is called by one module, or
/// keeps most of what it asks for. O(events).
Steps steps_of(const Recording& recording, const Trace& trace);

/// For every i: the length of the common beginning of the sequence and itself from i on; 0 for i =
/// 0. O(sequence).
std::vector<std::size_t> common_prefixes(const std::vector<std::uint64_t>& sequence);

/// What the recording annotates. Where that is nothing the steps of the program, "step 1", and
/// "before step 1" what is before them; none where no steps are known either.
std::vector<Phase> phases_or_steps(const Recording& recording, const Trace& trace);

}  // namespace memreplay
