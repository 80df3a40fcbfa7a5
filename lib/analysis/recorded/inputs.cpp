#include "analysis/recorded/inputs.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

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
    throw UsageError(
        fmt::format("{}: has neither events nor memory of gpu {}", recording.path, *gpu));
  }
  return with_memory;
}

Subject Chosen::subject(const Control& control) const {
  if (is_torch(*recording)) control.show("reading " + recording->path, 0);
  return Subject(*recording, *trace);
}

Inputs::Inputs(const InputOptions& input) {
  for (const std::string& path : input.paths) {
    const Recording& recording = recordings_.emplace_back(read_recording(path, input.read));
    const auto traces = chosen_traces(recording, input.gpu);
    if (traces.empty()) {
      throw InputError(recording.path, "", "has neither events nor memory; nothing to replay");
    }
    for (const Trace* trace : traces) chosen_.push_back({&recording, trace});
  }
}

std::optional<VerifyRun> model_check(const Subject& subject) {
  if (subject.verified() == nullptr) return std::nullopt;
  return *subject.verified();
}

}  // namespace memreplay
