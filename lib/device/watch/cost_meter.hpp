#pragma once

#include "device/cost_model.hpp"
#include "device/watch/heard_device.hpp"

namespace memreplay {

/// The sum of what the calls to a device would cost, each by its size. Refused calls cost nothing,
/// nor does what was adopted until it is returned.
class CostMeter final : public Watcher {
 public:
  explicit CostMeter(const CostModel& cost) : cost_(cost) {}

  /// So far; always the same object.
  const double& seconds() const { return seconds_; }

  void on_device_call(const DeviceCall& call) override;

 private:
  void add(double ms) { seconds_ += ms / 1000.0; }
  void add_pieces(const CostCurve& curve, const DeviceCall& call);

  CostModel cost_;
  double seconds_ = 0;
};

}  // namespace memreplay
