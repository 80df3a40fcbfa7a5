#include "run/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <tuple>
#include <utility>

#include "core/parallel.hpp"
#include "core/text.hpp"
#include "core/torch_sizes.hpp"
#include "core/units.hpp"
#include "program/summary.hpp"
#include "program/too_much.hpp"
#include "replay/replay.hpp"
#include "replay/watch/holding_log.hpp"
#include "run/planned_floor.hpp"
#include "run/question.hpp"
#include "strategy/registry.hpp"
#include "trace/trace.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

auto rank_of(const Run& run) {
  const RunMetrics& m = run.metrics;
  const std::uint64_t behind = run.stopped_at_oom ? UINT64_MAX - m.first_oom->event : 0;
  // What fits by moving blocks away comes after what fits.
  return std::make_tuple(run.interrupted(), m.ooms, behind, m.moved_out_blocks != 0,
                         m.peak_reserved, m.oom_retries, run.device_calls());
}

BytesInterval widened(const BytesInterval& interval, double open) {
  return {bytes_of(static_cast<double>(interval.low) * (1 - open)),
          bytes_of(static_cast<double>(interval.high) * (1 + open))};
}

/// What is laid side by side where nobody names a strategy: the families between which people
/// choose, each as its users would set it. `room` is what the device has; unset: it is endless.
std::vector<StrategySpec> presets(const Recording& recording, std::optional<Bytes> room) {
  std::vector<StrategySpec> specs;
  const bool pinned = recording.format == kPinnedHostFormat;
  if (pinned) specs.push_back(usual_strategy(recording));
  if (!pinned && recording.settings.known()) specs.push_back(parse_strategy("recorded"));
  if (!pinned && !recording.strategy.empty()) specs.push_back(parse_strategy(recording.strategy));
  std::multimap<unsigned, std::string> groups;  // keeps the order within each
  for (const StrategyInfo& info : strategies()) {
    for (const Preset& preset : info.presets) {
      const std::string options =
          preset.options_for ? preset.options_for(room) : std::string(preset.options);
      if (preset.options_for && options.empty()) continue;
      groups.emplace(pinned ? preset.pinned_group : preset.group,
                     fmt::format("{}{}{}", info.name, options.empty() ? "" : ":", options));
    }
  }
  groups.erase(0);
  for (const auto& [group, text] : groups) specs.push_back(parse_strategy(text));
  return specs;
}

/// `room` is what the device has; unset: it is endless.
std::vector<StrategySpec> strategies_for(const Recording& recording, const ReplayQuestion& question,
                                         std::optional<Bytes> room) {
  using Usual = ReplayQuestion::Usual;
  std::vector<StrategySpec> strategies = question.strategies;
  if (strategies.empty() && question.usual == Usual::presets) strategies = presets(recording, room);
  return asked_or_usual(strategies, recording, question.setup.release);
}

/// All that is replayed of one device of a recording.
struct Prepared {
  Prepared(const Chosen& of, std::span<const OpenDevice> opened, const ReplayQuestion& question,
           const Control& control)
      : chosen(of),
        subject(of.subject(control)),
        devices(devices_for(subject, opened, question.setup)),
        strategies(strategies_for(*of.recording, question, devices.front().options.room())) {}

  std::size_t runs() const { return devices.size() * strategies.size(); }

  const Chosen& chosen;
  Subject subject;
  std::vector<OpenDevice> devices;
  std::vector<StrategySpec> strategies;
};

/// `fit` stands for the smallest value, in whole MiB, with which the recording runs without an OOM,
/// found by bisection.
StrategySpec fitted(const Subject& subject, const StrategySpec& spec, Setup setup,
                    const Control& control) {
  const std::string_view option = strategy_info(spec.name).fits;
  if (find_option(spec, option) != "fit") return spec;
  const OpenDevice device = simulated(sized_for(subject, setup));
  setup.stop_at_oom = true;
  const auto metrics_of = [&](const StrategySpec& tried) {
    ReplayOptions replaying = replay_options(subject.trace(), setup, control);
    replaying.program.refusals_stand = device.unknown_size;
    return replay(Contender(subject, tried), on_device(replaying, device, setup)).result.metrics;
  };
  // What was refused when it was recorded is refused with any value.
  const auto falls_short = [](const RunMetrics& metrics) {
    return metrics.first_oom && metrics.first_oom->told == OomPlace::RefusedBy::replayed;
  };
  std::vector<std::string> others;
  for (const auto& [key, value] : spec.options) {
    if (key != option) others.push_back(fmt::format("{}={}", key, value));
  }
  const auto with = [&](const std::string& first) {
    std::vector<std::string> all = others;
    if (!first.empty()) all.insert(all.begin(), first);
    return parse_strategy(
        fmt::format("{}{}{}", spec.name, all.empty() ? "" : ":", fmt::join(all, ",")));
  };
  const auto sized = [&](Bytes mebibytes) {
    return with(fmt::format("{}={}MiB", option, mebibytes));
  };
  control.show("fitting " + spec.name, 0);
  const RunMetrics whole = metrics_of(with(""));
  // It has a size, even where nobody asks for memory.
  Bytes fits = std::max(round_up(whole.counter("touched"), kMiB), kMiB) / kMiB;
  Bytes fails = whole.peak_allocated / kMiB;
  if (falls_short(whole)) return with("");
  while (fails + 1 < fits && !control.stopped()) {
    const Bytes middle = fails + (fits - fails) / 2;
    (falls_short(metrics_of(sized(middle))) ? fails : fits) = middle;
  }
  return sized(fits);
}

Agreement agreement(const HoldingLog& here, const HoldingLog& there, const OpenDevice& other) {
  Agreement agreement{.with = other.name,
                      .events = std::min(here.holdings().size(), there.holdings().size())};
  if (const auto event = first_difference(here, there)) {
    const HoldingLog::Holding& a = here.holdings()[*event];
    const HoldingLog::Holding& b = there.holdings()[*event];
    agreement.first_difference = {*event, a.allocated, a.reserved, b.allocated, b.reserved};
  }
  return agreement;
}

/// One strategy on every device; the later ones are laid beside the first.
std::vector<Run> on_all(const Subject& subject, const StrategySpec& spec,
                        std::span<const OpenDevice> devices, const Setup& setup,
                        const LateStart& late, const MadeRecordings* made, Watcher* watcher,
                        const Control& control) {
  std::vector<Run> runs;
  HoldingLog first;
  for (const OpenDevice& device : devices) {
    if (control.stopped()) break;
    HoldingLog holdings;
    HoldingLog& log = &device == &devices.front() ? first : holdings;
    WatcherGroup both;
    both.add(log);
    if (watcher != nullptr) both.add(*watcher);
    Watcher* watching = devices.size() > 1 ? &both : watcher;
    Run& of_this = runs.emplace_back(run(subject, spec, device, setup, late, watching, control));
    of_this.beside_others = devices.size() > 1;
    if (&log == &holdings) of_this.agreement = agreement(holdings, first, devices.front());
    if (made != nullptr) span_others(*made, spec, device, setup, control, of_this);
  }
  return runs;
}

}  // namespace

ReplayAnswer answer(const Inputs& inputs, std::span<const OpenDevice> opened,
                    const ReplayQuestion& question, const Control& control,
                    const RunsProgress& progress) {
  const Setup& setup = question.setup;
  std::deque<Prepared> prepared;
  std::size_t count = 0;
  for (const Chosen& chosen : inputs.chosen()) {
    replay_options(*chosen.trace, setup, control);  // what it refuses is refused before any run
    count += prepared.emplace_back(chosen, opened, question, control).runs();
  }
  if (progress.expect) progress.expect(inputs, count);
  ReplayAnswer answer{.traces = {},
                      .ranked = question.ranked,
                      .torch_summary = question.torch_summary,
                      .oom_report = setup.oom_report};
  for (const Prepared& one : prepared) {
    const auto& [chosen, subject, devices, strategies] = one;
    TraceRuns& trace = answer.traces.emplace_back();
    trace.trace = summarise(chosen);
    trace.device = devices.front().summary;
    trace.state_beyond = state_beyond(subject.trace(), devices.front().room(), setup.start);
    trace.asked = strategies.size() * devices.size();
    if (control.stopped()) continue;
    trace.model_check = model_check(subject);
    if (progress.begin_trace) progress.begin_trace(chosen, subject);
    const ReplayOptions options = replay_options(subject.trace(), setup, control);
    const LateStart late(subject, options);
    std::mutex showing;
    const Control in_turn{control.stop, [&](const std::string& what, double share) {
                            const std::lock_guard lock(showing);
                            control.show(what, share);
                          }};
    const auto row = [&](std::size_t i) -> std::vector<Run> {
      if (control.stopped()) return {};
      const StrategySpec spec = fitted(one.subject, one.strategies[i], setup, in_turn);
      return on_all(one.subject, spec, one.devices, setup, late, one.chosen.made.get(),
                    progress.watcher, in_turn);
    };
    const bool alone = progress.watcher != nullptr || setup.repeat > 1 || setup.paced ||
                       late.applies() || subject.trace().streamed != nullptr ||
                       std::ranges::any_of(devices, &OpenDevice::timed);
    WorkAhead<std::vector<Run>> rows(strategies.size(),
                                     alone ? 1 : std::thread::hardware_concurrency(), row);
    for (std::size_t i = 0; i < strategies.size() && !control.stopped(); ++i) {
      for (Run& made : rows.take()) {
        if (made.interrupted() && made.metrics.events == 0) continue;  // as good as not run
        made.at_least = trace.trace.early_end && !setup.to;
        if (progress.judged) progress.judged(chosen, made);
        trace.runs.push_back(std::move(made));
      }
    }
    set_places(trace.runs);
    if (question.ranked && !control.stopped()) {
      trace.planned =
          planned_floor(subject, options, trace.asked * subject.trace().size(), control);
    }
  }
  answer.interrupted = control.stopped();
  return answer;
}

ReplayAnswer answer(const Inputs& inputs, std::span<const OpenDevice> opened,
                    const ReplayQuestion& question, const Control& control) {
  return answer(inputs, opened, question, control, {});
}

void set_places(std::vector<Run>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(runs[a]) < rank_of(runs[b]);
  });
  for (std::size_t i = 0; i < order.size(); ++i) runs[order[i]].place = i + 1;
}

void sort_by_place(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.place < b.place; });
}

std::vector<TraceRuns> ReplayAnswer::shown() const {
  std::vector<TraceRuns> shown = traces;
  if (!ranked) return shown;
  for (TraceRuns& trace : shown) sort_by_place(trace.runs);
  return shown;
}

std::size_t worst_of(const std::vector<TraceRuns>& reports) {
  std::size_t worst = 0;
  const auto badness = [&](std::size_t i) {
    if (reports[i].runs.empty() || reports[i].runs.front().interrupted()) {
      return std::make_tuple(false, std::uint64_t{0}, Bytes{0});
    }
    const RunMetrics& m = reports[i].runs.front().metrics;
    return std::make_tuple(true, m.ooms, m.peak_reserved);
  };
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (badness(i) > badness(worst)) worst = i;
  }
  return worst;
}

void span_figure(BytesInterval& interval, Bytes likeliest, const MadeRecording& other,
                 Bytes there) {
  const auto from = static_cast<double>(likeliest);
  const double reached = from + (static_cast<double>(there) - from) * other.reach;
  interval.include(there);
  interval.include(bytes_of(std::max(0.0, reached)));
}

BytesInterval opened(const BytesInterval& reserved, const MadeRecordings& made) {
  if (made.reserved_open == 0) return reserved;
  const BytesInterval wide = widened(reserved, made.reserved_open);
  return {wide.low - wide.low % torch::kSmallBuffer, round_up(wide.high, torch::kSmallBuffer)};
}

Run run_made(const MadeRecording& made, const StrategySpec& spec, const OpenDevice& device,
             const Setup& setup, const Control& control) {
  const Subject subject(made.recording, made.trace(), made.origin);
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return run(subject, spec, device, setup, late, nullptr, control);
}

Run run_with_others(const MadeRecordings& made, const StrategySpec& spec, const OpenDevice& device,
                    const Setup& setup, const Control& control) {
  Run run = run_made(made.likeliest, spec, device, setup, control);
  span_others(made, spec, device, setup, control, run);
  return run;
}

void span_others(const MadeRecordings& made, const StrategySpec& spec, const OpenDevice& device,
                 const Setup& setup, const Control& control, Run& likeliest) {
  if (made.is_certain() || device.memory || likeliest.interrupted()) return;
  Setup once = setup;
  once.repeat = 1;
  once.warm_up = 0;
  once.points.reset();
  const auto both = [](Bytes value) { return BytesInterval{value, value}; };
  RunInterval all = likeliest.interval.value_or(
      RunInterval{both(likeliest.metrics.peak_reserved), both(likeliest.metrics.end_reserved)});
  all.peak_requested = both(likeliest.metrics.peak_requested);
  for (const MadeRecording& other : made.others) {
    const Run run = run_made(other, spec, device, once, control);
    if (run.interrupted()) return;
    const RunMetrics& m = run.metrics;
    const RunMetrics& l = likeliest.metrics;
    span_figure(*all.peak_requested, l.peak_requested, other, m.peak_requested);
    const BytesInterval peak = run.interval ? run.interval->peak_reserved : both(m.peak_reserved);
    for (const Bytes reserved : {peak.low, peak.high}) {
      span_figure(all.peak_reserved, l.peak_reserved, other, reserved);
    }
    span_figure(all.end_reserved, l.end_reserved, other, m.end_reserved);
  }
  all.peak_requested = widened(*all.peak_requested, made.requested_open);
  all.peak_reserved = opened(all.peak_reserved, made);
  all.end_reserved = opened(all.end_reserved, made);
  likeliest.interval = all;
}

}  // namespace memreplay
