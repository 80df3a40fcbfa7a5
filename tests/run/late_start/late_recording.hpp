#pragma once

#include <cstddef>

#include "trace/trace.hpp"
#include "verify/reading.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A complete recording as it would have been, had it begun before `event`.
inline Recording begun_late(const Recording& whole, std::size_t event) {
  Recording late = whole;
  Trace& trace = late.traces.at(0);
  RecordedState before(whole.traces.at(0));
  for (std::size_t i = 0; i < event; ++i) before.play(i);
  std::uint64_t unplaced = 0;
  const Subject subject(whole, whole.traces.at(0));
  const auto model = subject.model_of(usual_strategy(whole));
  trace.start = before.layout(model->settings, unplaced);
  const auto cut = [&](auto& column) {
    if (!column.empty()) {
      column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(event));
    }
  };
  cut(trace.ops);
  cut(trace.align_log2);
  cut(trace.lane_of);
  cut(trace.slots);
  cut(trace.sizes);
  cut(trace.times_us);
  cut(trace.threads);
  cut(trace.stacks);
  cut(trace.tags);
  cut(trace.addresses);
  cut(trace.ids);
  trace.coverage.starts_empty = false;
  trace.coverage.complete = false;
  return late;
}

}  // namespace memreplay
