#include "analysis/info/answer.hpp"

#include "analysis/info/question.hpp"
#include "analysis/late_start/warm_start.hpp"
#include "analysis/recorded/recorded_picture.hpp"
#include "analysis/recorded/summary.hpp"

namespace memreplay {
namespace {

// Costs a verification and some rehearsals: only where something was alive that tells of before.
void look_before(const Recording& recording, const Trace& trace, TraceSummary& summary) {
  if (trace.coverage.preexisting_blocks == 0 || !is_torch(recording)) return;
  const Subject subject(recording, trace);
  if (!WarmStart::applies_to(subject)) return;
  const EarlierSteps steps = WarmStart(subject, {}).earlier_steps();
  summary.warm_class = name_of(steps.kind);
  summary.largest_earlier_step = steps.largest;
}

}  // namespace

InfoAnswer answer(const InfoQuestion& question, const Control& control) {
  InfoAnswer answer;
  for (const std::string& path : question.input.paths) {
    if (control.stopped()) break;
    const Recording recording = read_recording(path, question.input.read);
    const auto traces = chosen_traces(recording, question.input.gpu);
    for (const Trace* trace : traces) {
      TraceSummary& summary = answer.traces.emplace_back(summarise(recording, *trace));
      if (question.points) summary.picture = recorded_picture(*trace, *question.points);
      look_before(recording, *trace, summary);
    }
    if (traces.empty()) answer.traces.push_back(summarise(recording));
  }
  return answer;
}

}  // namespace memreplay
