#include "device/cost_model.hpp"

namespace memreplay {

double modelled_seconds(const CostModel& cost, const DeviceUsage& usage) {
  const auto times = [](std::uint64_t calls, double ms) { return static_cast<double>(calls) * ms; };
  return (times(usage.allocs, cost.alloc_ms) + times(usage.frees, cost.free_ms) +
          times(usage.maps, cost.map_ms) + times(usage.unmaps, cost.unmap_ms)) /
         1000.0;
}

}  // namespace memreplay
