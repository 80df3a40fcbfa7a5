#include "analysis/edit/made_recording.hpp"

#include <utility>

#include "analysis/recorded/recorded_device.hpp"

namespace memreplay {

Reading renumbered(const Reading& reading, const Rewritten& written) {
  const auto now = [&](std::uint64_t event) {
    return event < written.now.size() ? written.now[event] : event;
  };
  Reading renumbered = reading;
  renumbered.corrected.reset();
  renumbered.block_sizes.clear();
  for (ProgramCall& call : renumbered.calls) call.event = now(call.event);
  for (SettingsCall& call : renumbered.settings_calls) call.event = now(call.event);
  renumbered.deferrals.clear();
  for (const Deferral& deferral : reading.deferrals) {
    if (!written.kept[deferral.event]) continue;
    const bool comes = deferral.due != UINT64_MAX;
    renumbered.deferrals.push_back({now(deferral.event), comes ? now(deferral.due) : deferral.due});
  }
  return renumbered;
}

MadeRecording made_recording(const Subject& subject, Rewritten written, std::string why_inexact) {
  Origin origin{.verified = {},
                .room = recorded_room(subject),
                .order = subject.order(),
                .pluggable_pools = subject.pluggable_pools(),
                .why_inexact = std::move(why_inexact)};
  if (const VerifyResult* verified = subject.verified()) {
    origin.verified = *verified;
    origin.verified->reading = renumbered(verified->reading, written);
  }
  const Recording& recorded = subject.recording();
  MadeRecording made{.recording = {.path = recorded.path,
                                   .format = recorded.format,
                                   .detail = recorded.detail,
                                   .traces = {},
                                   .lacks = recorded.lacks,
                                   .why_no_trace = {},
                                   .settings = recorded.settings,
                                   .annotations = recorded.annotations,
                                   .texts = recorded.texts,
                                   .frames = recorded.frames,
                                   .stacks = recorded.stacks,
                                   .text = {}},
                     .origin = std::make_shared<const Origin>(std::move(origin))};
  made.recording.traces.push_back(std::move(written.trace));
  return made;
}

}  // namespace memreplay
