#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "extensions/planner/planner.hpp"
#include "extensions/planner/planning.hpp"
#include "run/planned_floor.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

/// Requests from this size on are refused anywhere.
constexpr Bytes kOnNoDevice = Bytes{1} << 50;

/// Sizes as they are asked for, and what was refused left out, as the lower bound counts them.
/// `from`: the first event that counts.
std::vector<PlannedBlock> blocks_asked_for(const Program& program, std::uint64_t from) {
  std::vector<PlannedBlock> blocks;
  const std::uint64_t last = program.size() + 1;
  for (const PlannedRequest& request : foresee(program).requests) {
    const std::uint64_t start = std::max(request.start, from);
    const std::uint64_t end = std::min(request.end, last);
    const bool too_large = request.size >= kOnNoDevice || request.alignment >= kOnNoDevice;
    if (request.refused || too_large || end <= start) continue;
    blocks.push_back({start, end, request.size, std::max<Bytes>(1, request.alignment)});
  }
  return at_own_times(std::move(blocks));
}

/// What a plan may cost in any comparison, in events: some tenths of a second.
constexpr std::uint64_t kEventsOfAnyPlan = 600'000;

}  // namespace

PlannedFloor planned_floor(const Subject& subject, const ReplayOptions& options,
                           std::uint64_t events, const Control& control) {
  PlannedFloor floor;
  if (subject.trace().streamed) {
    floor.left_out_because = "the recording is streamed, not held in memory";
    return floor;
  }
  const auto blocks =
      blocks_asked_for(program_of(subject, options.program), options.measuring.from);
  floor.blocks = blocks.size();
  if (blocks.size() > kMostBlocksOfQuickPlan) {
    floor.left_out_because =
        fmt::format("{} blocks are too many to plan in a comparison", human_count(blocks.size()));
    return floor;
  }
  if (events_of_quick_plan(blocks) > std::max(events, kEventsOfAnyPlan)) {
    floor.left_out_because = "it would take longer than all replays together";
    return floor;
  }
  control.show("planning", 0);
  const PlannedMemory planned = plan_quickly(blocks, control);
  floor.height = planned.packing->height;
  floor.lower_bound = planned.lower_bound;
  floor.found_by = planned.found_by;
  return floor;
}

}  // namespace memreplay
