#pragma once

#include "analysis/explain/answer.hpp"

namespace memreplay {

struct Chosen;
class Subject;

/// Why one device of a recording needed what it needed, and which setting helps. Throws UsageError
/// where the question does not fit the trace. Costs up to three replays and a short search.
/// `listener` may be null.
ExplainedDevice explained(const Chosen& chosen, const Subject& subject,
                          const ExplainQuestion& question, const Control& control,
                          ExplainListener* listener = nullptr);

}  // namespace memreplay
