#include "questions/check/check.hpp"

#include <algorithm>

#include "program/early_end.hpp"
#include "program/live_blocks.hpp"
#include "program/places.hpp"
#include "program/recorded_device.hpp"
#include "program/steps.hpp"
#include "questions/check/tolerance.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

/// Follows a run with limits, and keeps what came of it.
class LimitsWatcher final : public Watcher {
 public:
  explicit LimitsWatcher(const std::vector<CheckedValue>& values) {
    for (const CheckedValue& value : values) limits_.push_back({value.metric, value.limit});
  }

  void on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) override {
    also.add(watch_.emplace(subject.trace(), trial.usage(), limits_));
  }
  void on_run_end(const Trial& /*trial*/) override {
    over_since_ = watch_->over_since();
    live_at_peak_ = watch_->live_at_peak();
    watch_.reset();
  }

  // As RunWatch has them, after the replay.
  const std::vector<std::optional<std::uint64_t>>& over_since() const { return over_since_; }
  const std::vector<LiveBlock>& live_at_peak() const { return live_at_peak_; }

 private:
  std::vector<RunWatch::Limit> limits_;
  std::optional<RunWatch> watch_;
  std::vector<std::optional<std::uint64_t>> over_since_;
  std::vector<LiveBlock> live_at_peak_;
};

std::vector<CheckedValue> values_of(const BaselineEntry& entry) {
  std::vector<CheckedValue> values;
  for (const CheckedMetric& metric : checked_metrics()) {
    const auto found = entry.metrics.find(metric.name);
    if (found == entry.metrics.end()) continue;
    const BaselineMetric& kept = found->second;
    CheckedValue& value = values.emplace_back();
    value.metric = &metric;
    value.tolerance = kept.tolerance;
    value.limit = limit_of(kept.value, kept.tolerance);
    if (!kept.only_budget) value.baseline = kept.value;
    value.of_budget = kept.only_budget || (kept.budget && *kept.budget < value.limit);
    if (value.of_budget) value.limit = *kept.budget;
  }
  return values;
}

Setup setup_of(const CheckSetup& asked, StartMode start) {
  Setup setup{.start = start};
  setup.capacity = asked.capacity;
  setup.endless = !asked.capacity;
  return setup;
}

Run run_of(const Subject& subject, const CheckSetup& asked, const Setup& setup,
           const LateStart& late, Watcher* watcher, const Control& control) {
  SizedDevice device{setup.simulated()};
  device.unknown_size = !asked.capacity && !recorded_room(subject);
  return run(subject, under_release(parse_strategy(asked.strategy), asked.release),
             simulated(device), setup, late, watcher, control);
}

std::string rules_of(const Subject& subject, const CheckSetup& asked) {
  const StrategySpec spec = under_release(parse_strategy(asked.strategy), asked.release);
  const auto model = subject.model_of(subject.with_release(spec));
  return model ? model->release.text() : std::string();
}

std::optional<BytesInterval> interval_of(const Run& run, const CheckedMetric& metric) {
  if (!run.interval) return std::nullopt;
  if (metric.name == "peak_reserved_bytes") return run.interval->peak_reserved;
  if (metric.name == "end_reserved_bytes") return run.interval->end_reserved;
  return std::nullopt;
}

// `watcher` has the limits in the order of the values, which ends here: what is over comes first.
void enter_figures(const Run& run, const LimitsWatcher& watcher, const Steps& steps,
                   std::vector<CheckedValue>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    CheckedValue& value = values[i];
    value.value = value.metric->of(run.metrics);
    value.interval = interval_of(run, *value.metric);
    if (value.passed()) continue;
    value.first_event_over = watcher.over_since()[i];
    if (value.first_event_over && steps.source != Steps::Source::none) {
      value.step = steps.of(*value.first_event_over);
    }
  }
  std::stable_partition(values.begin(), values.end(),
                        [](const CheckedValue& v) { return !v.passed(); });
}

void compare_places(const BaselineEntry& entry, EntryCheck& check) {
  if (!entry.places) {
    check.not_compared = "the baseline does not list live memory";
  } else if (entry.places->by != check.places.by) {
    check.not_compared = "stacks were recorded on one side only";
  } else {
    check.grown = growth(*entry.places, check.places);
  }
}

// A place names its file by as many folders as it takes; its frame has all of them.
void find_code(const Recording& recording, EntryCheck& check) {
  for (const PlaceGrowth& growth : check.grown) {
    for (const Frame& frame : recording.frames) {
      const std::string whole = frame_text(recording, frame);
      if (frame.line == kNoLine || !whole.ends_with(growth.place)) continue;
      const std::size_t before = whole.size() - growth.place.size();
      if (before > 0 && whole[before - 1] != '/') continue;
      check.code[growth.place] = {recording.texts[frame.file], frame.line};
      break;
    }
  }
}

}  // namespace

bool EntryCheck::passed() const {
  return comparable() && std::ranges::all_of(values, &CheckedValue::passed);
}

EntryCheck check_entry(const Subject& subject, const LateStart& late, const BaselineEntry& entry,
                       const Control& control) {
  const Trace& trace = subject.trace();
  EntryCheck check{.trace = subject.recording().path,
                   .gpu = entry.gpu,
                   .setup = entry.setup,
                   .from_before = entry.from_before,
                   .facts = facts_of(subject.recording(), trace),
                   .baseline_is_whole = !entry.at_least,
                   .versions = {.rules = rules_of(subject, entry.setup)},
                   .baseline_versions = entry.versions};
  check.values = values_of(entry);
  const Setup setup =
      setup_of(entry.setup, check.counts_before() ? StartMode::automatic : StartMode::cold);
  const LateStart none(subject, replay_options(trace, setup, control));
  LimitsWatcher watcher(check.values);
  const Run run =
      run_of(subject, entry.setup, setup, check.counts_before() ? late : none, &watcher, control);
  enter_figures(run, watcher, steps_of(subject.recording(), trace), check.values);
  check.places = places_held(subject.recording(), trace, watcher.live_at_peak());
  compare_places(entry, check);
  if (!check.values.empty() && !check.values.front().passed())
    find_code(subject.recording(), check);
  check.ooms = run.metrics.ooms;
  check.blocks_before = trace.coverage.preexisting_blocks;
  check.bytes_before = trace.coverage.preexisting_bytes;
  // What a cold start leaves out is said apart.
  if (trace.coverage.starts_empty || check.counts_before()) {
    check.inexact_because = run.inexact_because;
  }
  check.finished = run.finished;
  return check;
}

std::optional<WithStart> with_start(const Subject& subject, const LateStart& late,
                                    const BaselineEntry& entry, const Control& control) {
  if (!late.applies() || subject.trace().coverage.starts_empty) return std::nullopt;
  const Setup setup = setup_of(entry.setup, StartMode::automatic);
  const Run run = run_of(subject, entry.setup, setup, late, nullptr, control);
  if (!run.finished || control.stopped()) return std::nullopt;
  if (run.start_matters && !run.interval) return std::nullopt;
  return WithStart{.peak_reserved = run.metrics.peak_reserved,
                   .end_reserved = run.metrics.end_reserved,
                   .interval = run.interval,
                   .inexact_because = run.inexact_because};
}

BaselineEntry updated(const BaselineEntry& entry, const EntryCheck& check) {
  BaselineEntry fresh = entry;
  fresh.at_least = !check.facts.whole();
  fresh.versions = check.versions;
  for (const CheckedValue& value : check.values) {
    fresh.metrics.find(value.metric->name)->second.value = value.value;
  }
  fresh.places = largest_places(check.places, kPlacesKept);
  return fresh;
}

RunWatch::RunWatch(const Trace& trace, const DeviceUsage& device, std::vector<Limit> limits)
    : trace_(trace),
      device_(device),
      built_(device),
      limits_(std::move(limits)),
      over_since_(limits_.size()) {}

void RunWatch::on_start_block(Slot slot, const Placement& /*placement*/) {
  from_before_.push_back(slot);
}

void RunWatch::on_start(const EventState& state, const Strategy& strategy) {
  std::ranges::sort(from_before_);
  device_before_ = device_;
  strategy_before_ = strategy.usage();
  so_far_.peak_requested = state.requested;
  so_far_.peak_allocated = state.allocated;
}

void RunWatch::on_event(const EventState& state, const Strategy& strategy) {
  RunMetrics& m = so_far_;
  if (state.allocated > m.peak_allocated) behind_peak_ = state.event + 1;
  if (trace_.ops[state.event] == Op::allocate && !state.placement) unserved_.push_back(state.event);
  m.peak_requested = std::max(m.peak_requested, state.requested);
  m.peak_allocated = std::max(m.peak_allocated, state.allocated);
  m.peak_reserved = state.peak_reserved;
  m.end_requested = state.requested;
  m.end_allocated = state.allocated;
  m.end_reserved = state.reserved;
  m.ooms = state.ooms;
  m.device_allocs = built_.allocs + device_.allocs - device_before_.allocs;
  m.device_frees = built_.frees + device_.frees - device_before_.frees;
  m.device_maps = built_.maps + device_.maps - device_before_.maps;
  m.device_unmaps = built_.unmaps + device_.unmaps - device_before_.unmaps;
  m.segments_peak = device_.peak_regions;
  m.segments_end = device_.regions;
  const StrategyUsage own = strategy.usage();
  m.oom_retries = own.oom_retries - strategy_before_.oom_retries;
  m.syncs = own.syncs - strategy_before_.syncs;
  m.stream_waits = own.stream_waits - strategy_before_.stream_waits;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (limits_[i].metric->of(m) <= limits_[i].most) {
      over_since_[i].reset();
    } else if (!over_since_[i]) {
      over_since_[i] = state.event;
    }
  }
}

std::vector<LiveBlock> RunWatch::live_at_peak() const {
  std::vector<LiveBlock> live = live_before(trace_, behind_peak_);
  std::erase_if(live, [&](const LiveBlock& block) {
    if (!block.born) return !std::ranges::binary_search(from_before_, block.slot);
    return std::ranges::binary_search(unserved_, *block.born);
  });
  return live;
}

}  // namespace memreplay
