#include "analysis/run/made_interval.hpp"

#include <algorithm>

#include "core/torch_sizes.hpp"
#include "core/units.hpp"

namespace memreplay {
namespace {

BytesInterval widened(const BytesInterval& interval, double open) {
  return {bytes_of(static_cast<double>(interval.low) * (1 - open)),
          bytes_of(static_cast<double>(interval.high) * (1 + open))};
}

}  // namespace

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
