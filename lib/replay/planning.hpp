#pragma once

#include <memory>

#include "core/plan.hpp"
#include "replay/replay.hpp"

namespace memreplay {

/// A plan for what a replay of this trace asks of a strategy that adopts no start state. Of
/// `options` counts what decides over requests: `to`, `start` and `reading`. The time is that of
/// the planner.
std::shared_ptr<const Plan> make_plan(const Trace& trace, const PlanWish& wish,
                                      const ReplayOptions& options);

}  // namespace memreplay
