#include "analysis/run/made_interval.hpp"

#include <algorithm>

#include "core/bytes_of.hpp"
#include "core/torch_sizes.hpp"

namespace memreplay {
namespace {

void widen(BytesInterval& interval, Bytes value) {
  interval.low = std::min(interval.low, value);
  interval.high = std::max(interval.high, value);
}

}  // namespace

BytesInterval opened(const BytesInterval& reserved, const MadeRecordings& made) {
  if (made.reserved_open == 0) return reserved;
  const double open = made.reserved_open;
  const Bytes low = bytes_of(static_cast<double>(reserved.low) * (1 - open));
  const Bytes high = bytes_of(static_cast<double>(reserved.high) * (1 + open));
  return {low - low % torch::kSmallBuffer, round_up(high, torch::kSmallBuffer)};
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
    widen(*all.peak_requested, m.peak_requested);
    widen(all.peak_reserved, run.interval ? run.interval->peak_reserved.low : m.peak_reserved);
    widen(all.peak_reserved, run.interval ? run.interval->peak_reserved.high : m.peak_reserved);
    widen(all.end_reserved, m.end_reserved);
  }
  all.peak_reserved = opened(all.peak_reserved, made);
  all.end_reserved = opened(all.end_reserved, made);
  likeliest.interval = all;
}

}  // namespace memreplay
