#include "program/recorded_device.hpp"

#include <algorithm>
#include <cmath>

#include "core/units.hpp"
#include "strategy/registry.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {

std::optional<RecordedOom> first_recorded_oom(const Trace& trace) {
  if (trace.streamed) return std::nullopt;
  RecordedLevels levels(trace);
  for (std::uint64_t i = 0; i < trace.size(); ++i) {
    levels.play(i);
    if (trace.ops[i] != Op::oom) continue;
    return RecordedOom{i, trace.sizes[i], levels.reserved(),
                       trace.addresses.empty() ? 0 : trace.addresses[i]};
  }
  return std::nullopt;
}

Bytes recorded_peak_reserved(const Trace& trace) {
  RecordedLevels levels(trace);
  for (std::uint64_t i = 0; i < trace.size(); ++i) levels.play(i);
  return levels.peaks().reserved().reserved;
}

std::optional<RecordedRoom> recorded_room(const Subject& subject) {
  if (subject.origin() != nullptr) return subject.origin()->room;
  const auto oom = first_recorded_oom(subject.trace());
  if (oom && oom->room() > 0) return RecordedRoom{oom->room(), true};
  // How much was held when it was full is not known where pools may have slept then.
  if (subject.verified() && subject.verified()->reading.released_memory &&
      subject.pluggable_pools().empty()) {
    const auto model = subject.model_of(parse_strategy("recorded"));
    const double share = model ? model->settings.per_process_memory_fraction : 1;
    const Bytes limit = subject.verified()->reading.memory_limit.value_or(0);
    const auto held = static_cast<double>(std::max(recorded_peak_reserved(subject.trace()), limit));
    // A limit that is a share of the device was full, not the device.
    return RecordedRoom{bytes_of(std::ceil(held / (share > 0 ? share : 1))), false};
  }
  return std::nullopt;
}

}  // namespace memreplay
