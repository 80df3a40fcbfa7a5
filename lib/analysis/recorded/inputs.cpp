#include "analysis/recorded/inputs.hpp"

#include <fmt/format.h>

#include <utility>

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

Inputs::Inputs(const InputOptions& input, OnUnreadable behind) {
  for (const std::string& path : input.paths) {
    try {
      read(path, input);
    } catch (const InputError& error) {
      if (behind == OnUnreadable::stop) throw;
      unreadable_.push_back({path, error.what()});
    }
  }
}

void Inputs::read(const std::string& path, const InputOptions& input) {
  Recording recording = read_recording(path, input.read);
  if (chosen_traces(recording, input.gpu).empty()) {
    throw InputError(recording.path, "", "has neither events nor memory; nothing to replay");
  }
  const Recording& kept = recordings_.emplace_back(std::move(recording));
  for (const Trace* trace : chosen_traces(kept, input.gpu)) chosen_.push_back({&kept, trace});
}

std::optional<VerifyRun> model_check(const Subject& subject) {
  if (subject.verified() == nullptr) return std::nullopt;
  return *subject.verified();
}

}  // namespace memreplay
