#pragma once

#include <vector>

#include "analysis/plan/answer.hpp"
#include "planner/problem.hpp"
#include "replay/program.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// What is to be planned of a trace, and how its blocks are called.
struct TraceLives {
  PlanningProblem problem;
  std::vector<PlannedBuffer> buffers;
  std::uint64_t left_out = 0;  ///< requests too large for any device
};

/// Its file has lives instead of events.
bool states_lives(const Recording& recording);

/// The buffers that its file states, or the blocks of its program; all sizes and offsets as
/// multiples of `alignment`. Throws UsageError, and what reading a file throws.
TraceLives lives_of(const Subject& subject, const ProgramOptions& options, Bytes alignment);

}  // namespace memreplay
