#include "questions/info/answer.hpp"

#include <algorithm>
#include <set>

#include "program/devices.hpp"
#include "program/summary.hpp"
#include "run/late_start/late_start.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

// Costs some rehearsals: only where something was alive, and asked for, that tells of before.
void look_before(const Subject& subject, TraceSummary& summary) {
  if (!WarmStart::applies_to(subject)) return;
  const EarlierSteps steps = WarmStart(subject, {}).earlier_steps();
  summary.warm_class = name_of(steps.kind);
  summary.largest_earlier_step = steps.largest;
}

// Costs a verification, only where there is something to find.
void look_closer(const Recording& recording, const Trace& trace, TraceSummary& summary) {
  if (!is_torch(recording)) return;
  const bool tells_of_before = trace.coverage.preexisting_blocks > 0 && summary.allocs > 0;
  const bool released = summary.ooms > 0 || std::ranges::any_of(trace.ops, returns_memory);
  if (!tells_of_before && !released) return;
  const Subject subject(recording, trace);
  if (released) summary.retries = subject.verified()->reading.retries;
  if (tells_of_before) look_before(subject, summary);
}

std::optional<std::uint64_t> threads_of(const Trace& trace) {
  if (trace.threads.empty()) return std::nullopt;
  std::set<std::uint32_t> threads(trace.threads.begin(), trace.threads.end());
  threads.erase(0);  // the number of unknown threads
  return threads.size();
}

// Whether it can be trusted shows when it is read.
void read_through(const Trace& trace) {
  for_each_block(trace, ColdColumns::and_times, [](std::uint64_t, const auto&) { return true; });
}

}  // namespace

InfoAnswer answer(const InfoQuestion& question, const Control& control) {
  InfoAnswer answer;
  ReadOptions read = question.input.read;
  read.counted = !question.points && !question.select;
  for (const std::string& path : question.input.paths) {
    if (control.stopped()) break;
    const Recording recording = read_recording(path, read);
    const auto traces = chosen_traces(recording, question.input.gpu);
    for (const Trace* trace : traces) {
      TraceSummary& summary = answer.traces.emplace_back(summarise(recording, *trace));
      if (question.points) {
        summary.picture = recorded_picture(*trace, *question.points);
      } else if (trace->streamed && trace->streamed->can_open()) {
        read_through(*trace);
      }
      look_closer(recording, *trace, summary);
      summary.threads = threads_of(*trace);
      if (question.select) summary.selected = selection_of(recording, *trace, *question.select);
    }
    if (traces.empty()) answer.traces.push_back(summarise(recording));
  }
  return answer;
}

}  // namespace memreplay
