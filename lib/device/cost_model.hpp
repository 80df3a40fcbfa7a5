#pragma once

#include <vector>

#include "device/device_model.hpp"

namespace memreplay {

struct CostPoint {
  Bytes bytes = 0;
  double ms = 0;
};

/// The cost of a call by its bytes: straight from point to point, as the first below the first, and
/// above the last one as steep as before it, but never falling.
class CostCurve {
 public:
  CostCurve(double ms) : points_{{0, ms}} {}  // NOLINT(google-explicit-constructor)
  /// A curve through at least one point, in ascending order.
  explicit CostCurve(std::vector<CostPoint> points) : points_(std::move(points)) {}

  double ms(Bytes bytes) const;
  bool constant() const { return points_.size() == 1; }

 private:
  std::vector<CostPoint> points_;
};

/// The costs of calls to a driver, in milliseconds. The defaults are for cudaMalloc and cudaFree,
/// whatever the size.
struct CostModel {
  CostCurve alloc = 1.0;
  CostCurve free = 0.8;
  CostCurve map = 1.0;  ///< cost of a piece; where it is constant, of all pieces of a call
  CostCurve unmap = 0.8;

  bool constant() const {
    return alloc.constant() && free.constant() && map.constant() && unmap.constant();
  }
};

/// The time of all calls by a constant model. Refused calls cost nothing.
double modelled_seconds(const CostModel& cost, const DeviceUsage& usage);

}  // namespace memreplay
