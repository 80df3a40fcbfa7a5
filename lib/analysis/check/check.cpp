#include "analysis/check/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analysis/late_start/late_start.hpp"
#include "analysis/recorded/steps.hpp"
#include "core/error.hpp"
#include "replay/exactness.hpp"
#include "replay/trial.hpp"

namespace memreplay {
namespace {

auto place_of(const BaselineEntry& entry) {
  return std::tie(entry.trace, entry.gpu, entry.setup.strategy);
}

std::vector<CheckedValue> values_of(const BaselineEntry& entry) {
  std::vector<CheckedValue> values;
  for (const CheckedMetric& metric : checked_metrics()) {
    const auto found = entry.metrics.find(metric.name);
    if (found == entry.metrics.end()) continue;
    const auto& [baseline, tolerance] = found->second;
    values.push_back({&metric, baseline, tolerance, limit_of(baseline, tolerance)});
  }
  return values;
}

// What a cold start leaves out is said apart.
std::string why_inexact_apart_from_its_start(const Subject& subject, const StrategySpec& spec,
                                             const CheckSetup& setup, const ReplayResult& result) {
  if (!subject.trace().coverage.starts_empty) return {};
  return why_inexact(subject, spec, setup.torch_version, setup.capacity, result);
}

void compare_places(const BaselineEntry& entry, EntryCheck& check) {
  if (!entry.places) {
    check.not_compared = "the baseline does not say what was live";
  } else if (entry.places->by != check.places.by) {
    check.not_compared = "stacks were recorded on one side only";
  } else {
    check.grown = growth(*entry.places, check.places);
  }
}

}  // namespace

BaselineEntry* Baseline::find(const std::string& trace, int gpu, const std::string& strategy) {
  const auto found = std::ranges::find_if(entries, [&](const BaselineEntry& entry) {
    return place_of(entry) == std::tie(trace, gpu, strategy);
  });
  return found == entries.end() ? nullptr : &*found;
}

BaselineEntry& Baseline::add(BaselineEntry entry) {
  if (find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr) {
    throw UsageError(fmt::format("{} gpu {} under {} is there twice", entry.trace, entry.gpu,
                                 entry.setup.strategy));
  }
  const auto behind = std::ranges::find_if(
      entries, [&](const BaselineEntry& other) { return place_of(entry) < place_of(other); });
  return *entries.insert(behind, std::move(entry));
}

bool EntryCheck::passed() const { return std::ranges::all_of(values, &CheckedValue::passed); }

EntryCheck check_entry(const Subject& subject, const BaselineEntry& entry,
                       const std::atomic<bool>* cancelled) {
  const Trace& trace = subject.trace();
  EntryCheck check{.trace = entry.trace, .gpu = entry.gpu, .setup = entry.setup};
  check.values = values_of(entry);
  std::vector<RunWatch::Limit> limits;
  for (const CheckedValue& value : check.values) limits.push_back({value.metric, value.limit});

  const StrategySpec spec = parse_strategy(entry.setup.strategy);
  ReplayOptions replaying{.start = StartMode::cold, .cancelled = cancelled};
  Trial trial(
      subject, spec,
      {.device = {.capacity = entry.setup.capacity}, .torch_version = entry.setup.torch_version},
      plan_for(subject, spec, replaying));
  RunWatch watch(trace, trial.usage(), std::move(limits));
  replaying.observer = &watch;
  const ReplayResult result = trial.run(replaying);

  const Steps steps = steps_of(subject.recording(), trace);
  for (std::size_t i = 0; i < check.values.size(); ++i) {
    CheckedValue& value = check.values[i];
    value.value = value.metric->of(result.metrics);
    if (value.passed()) continue;
    value.first_event_over = watch.over_since()[i];
    if (value.first_event_over && steps.source != Steps::Source::none) {
      value.step = steps.of(*value.first_event_over);
    }
  }
  std::stable_partition(check.values.begin(), check.values.end(),
                        [](const CheckedValue& v) { return !v.passed(); });
  check.places = places_held(subject.recording(), trace, watch.live_at_peak());
  compare_places(entry, check);
  check.ooms = result.metrics.ooms;
  check.left_out_blocks = trace.coverage.preexisting_blocks;
  check.left_out = trace.coverage.preexisting_bytes;
  check.inexact_because = why_inexact_apart_from_its_start(subject, spec, entry.setup, result);
  check.finished = result.finished;
  return check;
}

std::optional<WithStart> with_start(const Subject& subject, const LateStart& late,
                                    const BaselineEntry& entry,
                                    const std::atomic<bool>* cancelled) {
  if (!late.applies() || subject.trace().coverage.starts_empty) return std::nullopt;
  const CheckSetup& setup = entry.setup;
  const StrategySpec spec = parse_strategy(setup.strategy);
  const SimulatedDeviceOptions device{.capacity = setup.capacity};
  const ReplayOptions replaying{.cancelled = cancelled};
  Trial trial(subject, spec, {.device = device, .torch_version = setup.torch_version},
              plan_for(subject, spec, replaying));
  const ReplayResult result = trial.run(replaying);
  if (!result.finished) return std::nullopt;
  const auto estimate = late.instead_of(result, spec, setup.torch_version, device);
  if (cancelled != nullptr && cancelled->load()) return std::nullopt;
  WithStart with{
      .peak_reserved = result.metrics.peak_reserved,
      .end_reserved = result.metrics.end_reserved,
      .inexact_because = why_inexact(subject, spec, setup.torch_version, setup.capacity, result)};
  if (estimate) {
    with.peak_reserved = estimate->peak_reserved.value;
    with.end_reserved = estimate->end_reserved.value;
    with.interval = estimate->interval();
  } else if (start_matters(subject, spec, setup.torch_version, setup.capacity, result)) {
    return std::nullopt;
  }
  return with;
}

BaselineEntry updated(const BaselineEntry& entry, const EntryCheck& check) {
  BaselineEntry fresh = entry;
  for (const CheckedValue& value : check.values) {
    fresh.metrics.find(value.metric->name)->second.value = value.value;
  }
  fresh.places = largest_places(check.places, kPlacesKept);
  return fresh;
}

}  // namespace memreplay
