#include "program/devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/gpu_label.hpp"

namespace memreplay {
namespace {

bool has_memory(const Trace& trace) {
  return !trace.start.segments.empty() || !trace.end.segments.empty();
}

// A process that dies leaves a mark on every device that it could see.
bool has_only_marks(const Trace& trace) {
  return !trace.streamed && std::ranges::all_of(trace.ops, [](Op op) { return op == Op::marker; });
}

}  // namespace

std::vector<const Trace*> chosen_traces(const Recording& recording, std::optional<int> gpu) {
  std::vector<const Trace*> with_events;
  std::vector<const Trace*> with_memory;
  for (const Trace& trace : recording.traces) {
    if (gpu && trace.gpu != *gpu) continue;
    if (has_memory(trace)) with_memory.push_back(&trace);
    if (trace.size() == 0 || (has_only_marks(trace) && !has_memory(trace))) continue;
    with_events.push_back(&trace);
  }
  if (!with_events.empty()) return with_events;
  if (gpu && with_memory.empty()) {
    throw UsageError(fmt::format("{}: has neither events nor memory of {}{}", recording.path,
                                 *gpu < 0 ? "the " : "", gpu_label(*gpu)));
  }
  return with_memory;
}

}  // namespace memreplay
