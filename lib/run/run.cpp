#include "run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/text.hpp"
#include "program/judge.hpp"
#include "program/recorded_device.hpp"
#include "program/too_much.hpp"
#include "replay/watch/run_recorder.hpp"
#include "run/phase_settings.hpp"
#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

bool has_times(const Trace& trace) {
  return trace.streamed ? trace.streamed->totals().times_us.has_value() : !trace.times_us.empty();
}

std::uint64_t event_at(const Trace& trace, const TracePoint& point, const char* option) {
  if (!point.seconds) return point.event;
  if (!has_times(trace)) {
    throw UsageError(fmt::format("{} in seconds: this recording has no times", option));
  }
  const double from_first = *point.seconds * 1e6;
  std::uint64_t event = trace.size();
  std::optional<std::int64_t> begin;
  for_each_block(trace, ColdColumns::and_times, [&](std::uint64_t first, const auto& events) {
    const std::vector<std::int64_t>& times = events.times_us;
    if (!begin && !times.empty()) begin = times.front();
    const auto found = std::ranges::find_if(
        times, [&](std::int64_t time) { return static_cast<double>(time - *begin) >= from_first; });
    if (found == times.end()) return true;
    event = first + static_cast<std::uint64_t>(found - times.begin());
    return false;
  });
  return event;
}

std::string as_given(const char* option, const std::optional<TracePoint>& point) {
  if (!point) return fmt::format("{} 0", option);
  return point->seconds ? fmt::format("{} {}s", option, *point->seconds)
                        : fmt::format("{} {}", option, point->event);
}

void refuse_empty_range(const Setup& setup, const ReplayOptions& options, const Trace& trace) {
  const std::uint64_t from = options.measuring.from;
  if (from > 0 && from >= trace.size()) {
    throw UsageError(fmt::format("{} lies after the end; the recording has {} events",
                                 as_given("--from", setup.from), human_count(trace.size())));
  }
  if (options.program.to > from) return;
  throw UsageError(fmt::format("no event lies between {} and {}; expected a --to after --from",
                               as_given("--from", setup.from), as_given("--to", setup.to)));
}

/// Everything that the replays of one run share.
struct Job {
  const Contender& contender;
  const OpenDevice& device;
  const Setup& setup;
  ReplayOptions replaying;
  const Control& control;
  PhasedSettings phased;
};

/// Draws a run into `picture`, which outlives it.
class Drawing final : public Watcher {
 public:
  Drawing(const Job& job, std::optional<RunPicture>* picture) : job_(job), picture_(picture) {}

  void on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) override {
    const ProgramOptions& program = job_.replaying.program;
    also.add(recorder_.emplace(subject.trace(), trial.device(), trial.log(),
                               RunRecorder::Options{*job_.setup.points, program.scale, program.to,
                                                    program.refusals_stand}));
  }
  void on_run_end(const Trial& /*trial*/) override { *picture_ = recorder_->picture(); }

 private:
  const Job& job_;
  std::optional<RunPicture>* picture_;
  std::optional<RunRecorder> recorder_;
};

ReplayResult replay_once(const Job& job, Watcher* watcher, std::optional<RunPicture>* picture) {
  ReplayOptions replaying = on_device(job.replaying, job.device, job.setup);
  replaying.settings_calls = job.phased.calls;
  Drawing drawing(job, picture);
  WatcherGroup watchers;
  if (watcher != nullptr) watchers.add(*watcher);
  if (picture != nullptr) watchers.add(drawing);
  if (!watchers.empty()) replaying.watcher = &watchers;
  return replay(job.contender, std::move(replaying)).result;
}

/// Replays that count are those after the warm-up; their times are taken together.
ReplayResult replay_repeatedly(const Job& job, Watcher* watcher,
                               std::optional<RunPicture>* picture) {
  const Setup& setup = job.setup;
  const std::uint64_t usual = job.device.memory && setup.repeat > 1 ? 1 : 0;
  for (std::uint64_t i = 0; i < setup.warm_up.value_or(usual) && !job.control.stopped(); ++i) {
    replay_once(job, nullptr, nullptr);
  }
  ReplayResult result = replay_once(job, watcher, picture);
  RunMetrics& m = result.metrics;
  if (setup.repeat < 2) return result;
  m.repeat_seconds = {m.replay_seconds};
  for (std::uint64_t i = 1; i < setup.repeat && result.finished && !job.control.stopped(); ++i) {
    const ReplayResult again = replay_once(job, nullptr, nullptr);
    if (!again.finished) break;
    m.repeat_seconds.push_back(again.metrics.replay_seconds);
    if (m.times) m.times->add(*again.metrics.times);
  }
  std::vector<double> seconds = m.repeat_seconds;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  m.replay_seconds = *middle;
  return result;
}

// Under the recorded settings all happens as it was recorded on any device of at least that size.
void weigh_size(const Job& job, Run& run) {
  if (!run.exact || run.device.capacity_from != CapacityFrom::recorded_retries) return;
  if (job.setup.phase_settings.empty() && job.contender.has_recorded_settings()) return;
  run.exact = false;
  run.inexact_because = "the recording does not say how large the device was, and here it was full";
}

/// What is reserved may as well be that.
void widen_to(Run& run, Bytes peak, Bytes end) {
  const RunMetrics& here = run.metrics;
  if (!run.interval) {
    run.interval = RunInterval{{here.peak_reserved, here.peak_reserved},
                               {here.end_reserved, here.end_reserved}};
  }
  run.interval->peak_reserved.include(peak);
  run.interval->end_reserved.include(end);
}

/// Whether it is the driver's order that a device gives addresses in, which is known for the most
/// part, and not the very order that the recording shows.
bool guesses_addresses(const Job& job) {
  const AddressPolicy policy = job.device.options.policy;
  return !job.device.memory && !job.setup.address_policy &&
         (policy == AddressPolicy::cuda_linux || policy == AddressPolicy::automatic);
}

// A tie between free blocks that addresses decide goes the other way where they do: a replay.
void weigh_ties(const Job& job, Run& run) {
  if (!run.exact || run.as_recorded || !run.finished || !guesses_addresses(job)) return;
  if (!job.contender.goes_by_address()) return;
  OpenDevice device{.options = job.device.options};
  device.options.policy = AddressPolicy::upward;
  const Job other{job.contender, device, job.setup, job.replaying, job.control, job.phased};
  const ReplayResult result = replay_once(other, nullptr, nullptr);
  const RunMetrics& there = result.metrics;
  const RunMetrics& here = run.metrics;
  const bool same = there.peak_reserved == here.peak_reserved &&
                    there.end_reserved == here.end_reserved && there.ooms == here.ooms;
  if (same || job.control.stopped()) return;
  run.exact = false;
  run.inexact_because =
      "of free blocks of equal size this release takes the lowest address, and the card's "
      "addresses are not in the recording";
  widen_to(run, there.peak_reserved, there.end_reserved);
}

/// Where blocks lie, whatever addresses the device gives: in which region, counted as the device
/// gave them, and how far from its beginning; of an older region by the address.
class Places final : public Watcher {
 public:
  bool needs_device_log() const override { return true; }
  void on_run(const Subject&, const Trial& trial, WatcherGroup& /*also*/) override {
    log_ = &trial.log();
  }
  void placed(std::uint64_t event, const Request&, const Placement& block) override {
    for (; seen_ < log_->events().size(); ++seen_) note(log_->events()[seen_]);
    const auto above = regions_.upper_bound(block.address);
    Place place{event, 0, block.address};
    if (above != regions_.begin()) {
      const auto& [begin, region] = *std::prev(above);
      if (block.address - begin < region.size)
        place = {event, region.number, block.address - begin};
    }
    all_.push_back(place);
  }

  /// The first event at which a block lies elsewhere than in the other replay; unset: none.
  std::optional<std::uint64_t> first_difference(const Places& other) const {
    const auto [here, there] = std::ranges::mismatch(all_, other.all_);
    if (here == all_.end()) return std::nullopt;
    return here->event;
  }

 private:
  struct Place {
    std::uint64_t event = 0;
    std::uint64_t region = 0;
    Bytes offset = 0;

    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Region {
    std::uint64_t number = 0;
    Bytes size = 0;
  };

  void note(const DeviceEvent& call) {
    if (call.op == Op::segment_alloc) regions_[call.address] = {++regions_made_, call.bytes};
    if (call.op == Op::segment_free) regions_.erase(call.address);
  }

  const DeviceLog* log_ = nullptr;
  std::size_t seen_ = 0;
  std::map<Address, Region> regions_;
  std::uint64_t regions_made_ = 0;
  std::vector<Place> all_;
};

// With ties that addresses decide, what lies where is known as long as all orders agree.
void weigh_places(const Job& job, Run& run) {
  const AddressPolicy order = job.device.options.policy;
  const bool modelled = order == AddressPolicy::cuda_linux || order == AddressPolicy::automatic;
  if (run.as_recorded || !run.finished || job.device.memory || !modelled ||
      !job.contender.goes_by_address()) {
    return;
  }
  OpenDevice device{.options = job.device.options};
  const Job other{job.contender, device, job.setup, job.replaying, job.control, job.phased};
  const auto places_under = [&](AddressPolicy policy) {
    device.options.policy = policy;
    Places places;
    replay_once(other, &places, nullptr);
    return places;
  };
  const Places here = places_under(order);
  for (const AddressPolicy policy : {AddressPolicy::upward, AddressPolicy::downward}) {
    const auto differs = here.first_difference(places_under(policy));
    if (job.control.stopped()) return;
    if (differs) run.places_open_from = std::min(*differs, run.places_open_from.value_or(*differs));
  }
  if (!run.places_open_from) return;
  run.metrics.remarks.push_back(fmt::format(
      "from event {} on, the places of blocks depend on the order in which the driver gives "
      "addresses, which is a model here",
      human_count(*run.places_open_from)));
}

/// Whether the settings and the rules are those under which it was recorded, and all of it is
/// replayed.
bool repeats_recording(const Job& job) {
  const Subject& subject = job.contender.subject();
  const Setup& setup = job.setup;
  if (subject.origin() != nullptr || subject.verified() == nullptr || setup.scale != 1 ||
      setup.start != StartMode::automatic || setup.from || setup.to || setup.ignore_empty_cache ||
      !setup.phase_settings.empty()) {
    return false;
  }
  return job.contender.has_recorded_rules();
}

// What the recorded program reserved is known, however far the model departs from it.
void weigh_recording(const Job& job, Run& run) {
  const Subject& subject = job.contender.subject();
  const Trace& trace = subject.trace();
  if (run.exact || !run.finished || !repeats_recording(job) || !shows_reserved(trace)) return;
  RecordedLevels levels(trace);
  for (std::size_t event = 0; event < trace.size(); ++event) levels.play(event);
  const Bytes peak = levels.peaks().reserved().reserved;
  const std::optional<Bytes> room = job.device.room();
  const RunMetrics& here = run.metrics;
  const auto shown = recorded_room(subject);
  if (shown ? !room || *room != shown->bytes : room && *room < peak) return;
  if (here.peak_reserved == peak && here.end_reserved == levels.reserved()) return;
  widen_to(run, peak, levels.reserved());
}

// What was cached before serves requests, as far as it lies right: all of it, or nothing.
void weigh_cached(const Job& job, Run& run) {
  const Bytes cached = job.contender.subject().trace().coverage.cached_bytes;
  if (cached == 0 || !run.finished || job.setup.start == StartMode::cold) return;
  if (!job.contender.model()) return;
  const RunMetrics& here = run.metrics;
  widen_to(run, here.peak_reserved + cached, here.end_reserved + cached);
}

/// Why the run was first refused memory; unset where the recording alone tells that it was.
std::optional<JudgedRefusal> judged_refusal(const Job& job, const Run& run) {
  const std::optional<OomPlace>& oom = run.metrics.first_oom;
  const SimulatedDeviceOptions& device = job.device.options;
  const bool as_recorded = run.as_recorded && !device.capacity;
  if (!oom || oom->told == OomPlace::RefusedBy::recorded || job.device.memory || as_recorded)
    return {};
  const Bytes needed = device_bytes_for(oom->requested, job.contender.model(), device.granularity);
  JudgedRefusal judged{.refusal = refusal_of(*oom, needed, device.capacity)};
  if (judged.refusal.cause == Cause::fragmentation && job.setup.scale == 1) {
    judged.too_much = too_much_in(job.contender.subject().trace(), device.room());
  }
  judged.verdict = verdict_on(judged.refusal.cause, judged.too_much.has_value());
  return judged;
}

/// What the registry says of the strategy that a run was of.
void describe(const Contender& contender, Run& run) {
  const StrategySpec& spec = contender.spec();
  const StrategyInfo& info = strategy_info(spec.name);
  run.tunable = contender.model() || info.settings_to_try != nullptr;
  if (!find_option(spec, info.takes_at_once)) run.taken_at_once = info.takes_at_once;
}

}  // namespace

ReplayOptions replay_options(const Trace& trace, const Setup& setup, const Control& control) {
  ReplayOptions options;
  if (setup.from) options.measuring.from = event_at(trace, *setup.from, "--from");
  if (setup.to) options.program.to = event_at(trace, *setup.to, "--to");
  refuse_empty_range(setup, options, trace);
  options.program.start = setup.start;
  options.program.ignore_empty_cache = setup.ignore_empty_cache;
  options.stops.at_oom = setup.stop_at_oom;
  options.measuring.oom_report = setup.oom_report;
  options.program.scale = setup.scale;
  options.paced = setup.paced;
  if (setup.paced && trace.times_us.empty()) {
    throw UsageError("--pace recorded: this recording has no times");
  }
  options.stops.cancelled = control.stop;
  return options;
}

ReplayOptions on_device(ReplayOptions options, const OpenDevice& device, const Setup& setup) {
  options.device = device.options;
  const bool edited =
      setup.scale != 1 || setup.start == StartMode::cold || setup.ignore_empty_cache;
  if (edited) options.device.like_recorded = LikeRecorded::nothing;
  options.memory = device.memory.get();
  options.touch = touch_of(device, setup);
  options.timed = device.timed;
  options.cost = setup.cost;
  options.uses = setup.uses;
  options.audit = setup.audit;
  return options;
}

Run judged(const Contender& contender, const Setup& setup, std::optional<Bytes> room,
           ReplayResult result, const std::optional<WarmEstimate>& estimate) {
  Run run;
  run.strategy = contender.spec().text;
  run.gpu = contender.subject().trace().gpu;
  run.start_matters = contender.start_matters(room, result);
  run.inexact_because = setup.scale == 1
                            ? contender.why_inexact(run.start_matters, room, result)
                            : fmt::format("every size was divided by {}", human_count(setup.scale));
  run.exact = run.inexact_because.empty();
  run.as_recorded = run.exact && result.followed && result.followed->to_the_end;
  run.finished = result.finished;
  run.stopped_at_oom = setup.stop_at_oom && result.metrics.first_oom.has_value();
  if (setup.oom_report) run.oom_report = std::move(result.oom_report);
  run.metrics = std::move(result.metrics);
  if (estimate) enter(*estimate, run);
  return run;
}

void enter(const WarmEstimate& estimate, Run& run) {
  estimate.enter_into(run.metrics);
  run.interval = estimate.interval();
  run.refused_before = estimate.refused_before;
}

Run judged(const Contender& contender, const OpenDevice& device, const Setup& setup,
           const LateStart& late, ReplayResult result) {
  const auto estimate = late.instead_of(result, contender, device.options);
  return judged(contender, setup, device.room(), std::move(result), estimate);
}

Run run(const Subject& subject, const StrategySpec& spec, const OpenDevice& device,
        const Setup& setup, const LateStart& late, Watcher* watcher, const Control& control) {
  ReplayOptions replaying = replay_options(subject.trace(), setup, control);
  replaying.program.refusals_stand = device.unknown_size;
  replaying.stops.progress = [&](double share) { control.show(spec.text, share); };
  const Contender contender(subject, spec, replaying.program);
  Job job{
      contender, device, setup, std::move(replaying), control, phased_settings(contender, setup)};
  std::optional<RunPicture> drawn;
  std::optional<RunPicture>* picture = setup.points ? &drawn : nullptr;
  std::optional<ReplayResult> plain;  // where the start may not determine it
  std::optional<WarmEstimate> estimate;
  if (late.applies() && !device.memory) {
    plain = replay_once(job, nullptr, nullptr);
    if (plain->finished) {
      estimate = late.instead_of(*plain, contender, device.options);
    }
    if (estimate) job.replaying.begin_with = late.warm().beginning(estimate->nearest);
  }
  const bool once = setup.repeat < 2 && setup.warm_up.value_or(0) == 0;
  const bool watched = watcher != nullptr || picture != nullptr;
  ReplayResult result = plain && !estimate && once && !watched
                            ? std::move(*plain)
                            : replay_repeatedly(job, watcher, picture);
  const bool was_full = result.refusals > 0;
  Run run = judged(contender, setup, device.room(), std::move(result), estimate);
  run.device = device.summary;
  if (was_full) weigh_size(job, run);
  weigh_ties(job, run);
  weigh_recording(job, run);
  if (watcher != nullptr && watcher->shows_places()) weigh_places(job, run);
  weigh_cached(job, run);
  std::ranges::copy(job.phased.remarks, std::back_inserter(run.metrics.remarks));
  run.picture = std::move(drawn);
  run.refusal = judged_refusal(job, run);
  describe(contender, run);
  return run;
}

}  // namespace memreplay
