#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"
#include "planner/free_during.hpp"
#include "replay/planning.hpp"

namespace memreplay {

/// What a program's markers say to a plan. Times are those of the planned requests.
struct ProgramPhases {
  std::vector<PlanMark> marks;            ///< by marker
  std::vector<std::uint64_t> iterations;  ///< when one begins
  std::vector<std::uint64_t> phases;      ///< likewise, iterations too; none without micro-batches
  std::vector<TimeSpan> regions;          ///< dynamic ones, one after the other

  bool in_region(std::uint64_t time) const;
};

/// Marks are named as in STAlloc's log: those of layers and micro-batches; all others begin an
/// iteration. Layers whose mark holds `dynamic`, where that is not empty, are dynamic regions.
ProgramPhases phases_of(std::span<const PlannedMarker> markers, std::span<const std::string> texts,
                        std::string_view dynamic);

}  // namespace memreplay
