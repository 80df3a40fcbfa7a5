#include "analysis/run/made_interval.hpp"

#include <algorithm>

#include "core/bytes_of.hpp"
#include "core/torch_sizes.hpp"

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
  for (const Bytes value : {there, bytes_of(std::max(0.0, reached))}) {
    interval.low = std::min(interval.low, value);
    interval.high = std::max(interval.high, value);
  }
}

BytesInterval opened(const BytesInterval& reserved, const MadeRecordings& made) {
  if (made.reserved_open == 0) return reserved;
  const BytesInterval wide = widened(reserved, made.reserved_open);
  return {wide.low - wide.low % torch::kSmallBuffer, round_up(wide.high, torch::kSmallBuffer)};
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
    const Subject subject(other.recording, other.trace(), other.origin);
    const LateStart late(subject, replay_options(subject.trace(), once, control));
    const Run run = memreplay::run(subject, spec, device, once, late, nullptr, control);
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
