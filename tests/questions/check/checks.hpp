#pragma once

#include <string>
#include <utility>

#include "questions/check/check_report.hpp"
#include "questions/check/tolerance.hpp"

namespace memreplay {

struct ValueFigures {
  std::uint64_t baseline = 0;
  std::uint64_t value = 0;
  const char* tolerance = "2%";
};

/// A value as a check leaves it; over its limit since event 1902 in step 3.
inline CheckedValue value_of(const char* metric, ValueFigures figures) {
  const Tolerance tolerance = parse_tolerance(figures.tolerance).value();
  CheckedValue value{&checked_metric(metric), figures.baseline, tolerance,
                     limit_of(figures.baseline, tolerance), figures.value};
  if (value.passed()) return value;
  value.first_event_over = 1902;
  value.step = 3;
  return value;
}

/// What screens show: the reserved peak is over its limit, the allocated one is not.
inline CheckAnswer worse_run() {
  EntryCheck entry{.trace = "run.pickle"};
  entry.values = {
      value_of("peak_reserved_bytes", {.baseline = 5100 * kMiB, .value = 5328 * kMiB}),
      value_of("peak_allocated_bytes", {.baseline = 5178 * kMiB, .value = 5179 * kMiB})};
  entry.grown = {{"model.py:88 MLP.forward", 100 * kMiB, 196 * kMiB, 96 * kMiB},
                 {"loss.py:12 cross_entropy", std::nullopt, 32 * kMiB, 32 * kMiB}};
  return {.baseline = "memory.json", .entries = {std::move(entry)}, .not_checked = {}};
}

}  // namespace memreplay
