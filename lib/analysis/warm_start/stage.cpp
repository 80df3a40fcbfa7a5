#include "analysis/warm_start/stage.hpp"

#include <algorithm>

namespace memreplay {

Stage::Stage(const Subject& subject, const WarmScript& script, const StrategySpec& spec,
             const std::string& torch_version, const SimulatedDeviceOptions& device,
             const ReplayOptions& replaying)
    : subject_(subject),
      script_(script),
      spec_(spec),
      torch_version_(torch_version),
      device_options_(device),
      replaying_(replaying) {}

Stage::Scene Stage::empty_scene() const {
  Scene scene{.device = std::make_unique<SimulatedDevice>(device_options_),
              .strategy = {},
              .placed = std::vector<Placement>(script_.trace.slot_count)};
  StrategyContext context = subject_.context(spec_, torch_version_, *scene.device);
  context.capacity = device_options_.capacity;
  scene.strategy = make_strategy(spec_, context);
  return scene;
}

Stage::Scene Stage::copy(const Scene& scene) {
  Scene copy{scene.device->clone(), {}, scene.placed, scene.refused};
  copy.strategy = scene.strategy->clone(*copy.device);
  return copy;
}

std::optional<Bytes> Stage::reserved_after(const Preparation& preparation) {
  Scene scene = empty_scene();
  Rehearsal rehearsal(script_, *scene.strategy, *scene.device, scene.placed);
  if (!rehearsal.prepare(preparation)) return std::nullopt;
  return scene.device->usage().held;
}

std::vector<StageOutcome> Stage::outcomes(const Preparation& preparation,
                                          std::span<const std::size_t> counts) {
  std::vector<StageOutcome> outcomes;
  std::optional<Scene> scene;
  std::optional<Rehearsal> rehearsal;
  std::size_t done = 0;
  for (const std::size_t count : counts) {
    Preparation part = preparation;
    part.rehearsals.resize(count);
    if (const auto known = known_.find(part); known != known_.end()) {
      outcomes.push_back(known->second);
      continue;
    }
    if (!scene) {
      scene = empty_scene();
      rehearsal.emplace(script_, *scene->strategy, *scene->device, scene->placed);
      if (!rehearsal->begin(part.start, count > 0)) return outcomes;
    }
    for (; done < count; ++done) {
      rehearsal->rehearse(part.rehearsals[done],
                          done == 0 && part.start == Preparation::Start::founders_first);
    }
    scene->refused = rehearsal->refused();
    outcomes.push_back(measure(copy(*scene)));
    known_.emplace(std::move(part), outcomes.back());
  }
  return outcomes;
}

std::optional<StageOutcome> Stage::outcome(const Preparation& preparation) {
  const std::size_t all[] = {preparation.rehearsals.size()};
  const auto found = outcomes(preparation, all);
  if (found.empty()) return std::nullopt;
  return found.front();
}

StageOutcome Stage::measure(Scene scene) const {
  ReplayOptions replaying = replaying_;
  replaying.observer = nullptr;
  replaying.progress = nullptr;
  replaying.begin_with = [&](Strategy&, DeviceModel&, std::span<Placement> by_slot) {
    std::ranges::copy(scene.placed, by_slot.begin());
    return scene.refused;
  };
  const RunMetrics m = replay(script_.trace, *scene.strategy, *scene.device, replaying).metrics;
  return {.peak_reserved = m.peak_reserved,
          .end_reserved = m.end_reserved,
          .peak_allocated = m.peak_allocated,
          .end_allocated = m.end_allocated,
          .ooms = m.ooms,
          .oom_retries = m.oom_retries,
          .refused_before = scene.refused};
}

}  // namespace memreplay
