#pragma once

#include <memory>

#include "core/plan.hpp"
#include "core/program.hpp"

namespace memreplay {

/// A plan for what this program asks of a strategy that adopts no start state. The time is that of
/// the planner.
std::shared_ptr<const Plan> make_plan(const Program& program, const PlanWish& wish);

}  // namespace memreplay
