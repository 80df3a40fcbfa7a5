#pragma once

#include <optional>

#include "analysis/explain/answer.hpp"

namespace memreplay {

struct Chosen;
struct Setup;
struct StrategySpec;
class Subject;

/// Why one device of a recording needed what it needed, and which setting helps. Throws UsageError
/// where the question does not fit the trace. Costs up to three replays and a short search.
ExplainedDevice explained(const Chosen& chosen, const Subject& subject,
                          const ExplainQuestion& question, const Control& control,
                          const ExplainProgress& progress = {});

/// Why the first request that is not served was refused, without a search; unset: all are served.
/// Costs up to three replays.
std::optional<Refusal> first_refusal(const Subject& subject,
                                     const std::optional<StrategySpec>& strategy,
                                     const Setup& setup, const Control& control);

}  // namespace memreplay
