#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extensions/planner/blocks.hpp"
#include "replay/plan_maker.hpp"

namespace memreplay {

/// A request with the time that its block is there. An event happens at the time one above its
/// number; what was there before has the time 0.
struct PlannedRequest {
  static constexpr std::uint64_t kForever = UINT64_MAX;

  Bytes size = 0;  ///< above 0
  Bytes alignment = 0;
  std::uint64_t start = 0;
  std::uint64_t end = kForever;
  bool out_of_plan = false;
  bool refused = false;  ///< when it was recorded; there for no longer than the request takes
};

struct PlannedMarker {
  std::uint64_t time = 0;
  std::uint32_t text = 0;  ///< index into the recording's texts
};

/// Requests in their order, those before the first event by address.
struct PlannedProgram {
  std::vector<PlannedRequest> requests;
  std::vector<PlannedMarker> markers;
};

PlannedProgram foresee(const Program& program);

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
