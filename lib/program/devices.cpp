#include "program/devices.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/gpu_label.hpp"

namespace memreplay {

std::vector<const Trace*> chosen_traces(const Recording& recording, std::optional<int> gpu) {
  std::vector<const Trace*> with_events;
  std::vector<const Trace*> with_memory;
  for (const Trace& trace : recording.traces) {
    if (gpu && trace.gpu != *gpu) continue;
    if (trace.size() > 0) with_events.push_back(&trace);
    if (!trace.start.segments.empty() || !trace.end.segments.empty()) with_memory.push_back(&trace);
  }
  if (!with_events.empty()) return with_events;
  if (gpu && with_memory.empty()) {
    throw UsageError(fmt::format("{}: has neither events nor memory of {}{}", recording.path,
                                 *gpu < 0 ? "the " : "", gpu_label(*gpu)));
  }
  return with_memory;
}

}  // namespace memreplay
