#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/plan.hpp"
#include "core/program.hpp"

namespace memreplay {

/// A plan for what this program asks of a strategy that adopts no start state. `texts` are those of
/// the recording. The time is that of the planner, which is an extension: where it is not built, no
/// strategy wishes for a plan.
std::shared_ptr<const Plan> make_plan(const Program& program, const PlanWish& wish,
                                      std::span<const std::string> texts = {});

}  // namespace memreplay
