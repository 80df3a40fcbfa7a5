#include "device/cost_model.hpp"

#include <algorithm>
#include <iterator>

namespace memreplay {

double CostCurve::ms(Bytes bytes) const {
  const auto above = std::ranges::lower_bound(points_, bytes, {}, &CostPoint::bytes);
  if (above == points_.begin() || constant()) return points_.front().ms;
  const bool beyond = above == points_.end();
  const CostPoint& to = beyond ? points_.back() : *above;
  const CostPoint& from = *std::prev(above, beyond ? 2 : 1);
  const double slope = (to.ms - from.ms) / static_cast<double>(to.bytes - from.bytes);
  if (beyond && slope < 0) return to.ms;
  return from.ms + slope * static_cast<double>(bytes - from.bytes);
}

double modelled_seconds(const CostModel& cost, const DeviceUsage& usage) {
  const auto times = [](std::uint64_t calls, const CostCurve& call) {
    return static_cast<double>(calls) * call.ms(0);
  };
  return (times(usage.allocs, cost.alloc) + times(usage.frees, cost.free) +
          times(usage.maps, cost.map) + times(usage.unmaps, cost.unmap)) /
         1000.0;
}

}  // namespace memreplay
