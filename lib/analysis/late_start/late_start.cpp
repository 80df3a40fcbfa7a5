#include "analysis/late_start/late_start.hpp"

#include "replay/exactness.hpp"

namespace memreplay {

LateStart::LateStart(const Subject& subject, const ReplayOptions& replaying)
    : subject_(subject), replaying_(replaying) {}

bool LateStart::applies() const {
  return replaying_.program.start == StartMode::automatic && replaying_.program.scale == 1 &&
         WarmStart::applies_to(subject_);
}

std::optional<WarmEstimate> LateStart::instead_of(const ReplayResult& replay,
                                                  const StrategySpec& spec,
                                                  const SimulatedDeviceOptions& device) const {
  if (!applies() || !start_matters(subject_, spec, device.room(), replay)) {
    return std::nullopt;
  }
  return warm().estimate(spec, device);
}

const WarmStart& LateStart::warm() const {
  std::call_once(looked_, [&] { warm_ = std::make_unique<WarmStart>(subject_, replaying_); });
  return *warm_;
}

}  // namespace memreplay
