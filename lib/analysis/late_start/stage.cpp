#include "analysis/late_start/stage.hpp"

#include <algorithm>
#include <string_view>

#include "replay/trial.hpp"

namespace memreplay {
namespace {

Bytes counter(const RunMetrics& metrics, std::string_view name) {
  const auto found =
      std::ranges::find_if(metrics.counters, [&](const auto& c) { return c.first == name; });
  return found == metrics.counters.end() ? 0 : static_cast<Bytes>(found->second);
}

}  // namespace

Stage::Stage(const Subject& subject, const WarmScript& script, const StrategySpec& spec,
             const SimulatedDeviceOptions& device, const ReplayOptions& replaying)
    : subject_(subject),
      script_(script),
      spec_(spec),
      device_options_(device),
      replaying_(replaying) {}

Stage::Scene Stage::empty_scene() const {
  SimulatedDeviceOptions options = device_options_;
  options.policy = policy_for(subject_, spec_, options.policy);
  Scene scene{.device = std::make_unique<SimulatedDevice>(options),
              .strategy = {},
              .placed = std::vector<Placement>(script_.rehearsed.slot_count)};
  StrategyContext context = subject_.context(*scene.device);
  context.capacity = device_options_.capacity;
  scene.strategy = make_strategy(subject_.with_release(spec_), context);
  return scene;
}

Stage::Scene Stage::copy(const Scene& scene) {
  Scene copy{scene.device->clone(), {}, scene.placed, scene.refused};
  copy.strategy = scene.strategy->clone(*copy.device);
  return copy;
}

const Stage::Scene* Stage::prepared(const Preparation& preparation) {
  if (const auto known = scenes_.find(preparation); known != scenes_.end()) return &known->second;
  Preparation begun = preparation;
  std::size_t done = 0;
  Scene scene;
  // What comes before the first step depends on whether there is one.
  while (begun.rehearsals.size() > 1 && done == 0) {
    begun.rehearsals.pop_back();
    const auto known = scenes_.find(begun);
    if (known == scenes_.end()) continue;
    scene = copy(known->second);
    done = begun.rehearsals.size();
  }
  if (done == 0) scene = empty_scene();
  Rehearsal rehearsal(script_, *scene.strategy, *scene.device, scene.placed);
  if (!rehearsal.prepare(preparation, done)) return nullptr;
  scene.refused += rehearsal.refused();
  return &scenes_.emplace(preparation, std::move(scene)).first->second;
}

std::optional<Bytes> Stage::reserved_after(const Preparation& preparation) {
  const Scene* scene = prepared(preparation);
  return scene ? std::optional(scene->device->usage().held) : std::nullopt;
}

std::optional<StageOutcome> Stage::outcome(const Preparation& preparation) {
  if (const auto known = outcomes_.find(preparation); known != outcomes_.end()) {
    return known->second;
  }
  const Scene* scene = prepared(preparation);
  if (!scene) return std::nullopt;
  return outcomes_.emplace(preparation, measure(copy(*scene))).first->second;
}

StageOutcome Stage::measure(Scene scene) const {
  PlayOptions playing{.stops = replaying_.stops, .measuring = replaying_.measuring};
  playing.stops.progress = nullptr;
  playing.begin_with = [&](Strategy&, DeviceModel&, std::span<Placement> by_slot) {
    std::ranges::copy(scene.placed, by_slot.begin());
    return scene.refused;
  };
  const RunMetrics m = replay(script_.measured, *scene.strategy, *scene.device, playing).metrics;
  return {.peak_reserved = m.peak_reserved,
          .end_reserved = m.end_reserved,
          .peak_allocated = m.peak_allocated,
          .end_allocated = m.end_allocated,
          .peak_of_small = counter(m, "reserved_bytes.small_pool.peak"),
          .peak_of_large = counter(m, "reserved_bytes.large_pool.peak"),
          .end_of_small = counter(m, "reserved_bytes.small_pool.current"),
          .ooms = m.ooms,
          .oom_retries = m.oom_retries,
          .refused_before = scene.refused};
}

}  // namespace memreplay
