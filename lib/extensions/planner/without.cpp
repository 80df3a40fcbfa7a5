#include "core/error.hpp"
#include "run/planned_floor.hpp"

namespace memreplay {

PlannedFloor planned_floor(const Subject&, const ReplayOptions&, std::uint64_t, const Control&) {
  PlannedFloor floor;
  floor.left_out_because = NotBuilt("the planner", "planner").what();
  return floor;
}

}  // namespace memreplay
