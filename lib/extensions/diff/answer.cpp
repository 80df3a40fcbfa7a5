#include "extensions/diff/answer.hpp"

#include "core/control.hpp"
#include "extensions/diff/recordings.hpp"
#include "extensions/diff/strategies.hpp"
#include "program/summary.hpp"
#include "run/devices.hpp"

namespace memreplay {
namespace {

// The first device of each file that has something to replay.
std::vector<Chosen> first_devices(const Inputs& inputs) {
  std::vector<Chosen> chosen;
  for (const Chosen& device : inputs.chosen()) {
    if (chosen.empty() || chosen.back().recording != device.recording) chosen.push_back(device);
  }
  return chosen;
}

SidePeaks peaks_of(const Subject& subject, const DiffQuestion& question, const Control& control) {
  if (question.strategies.empty()) return recorded_peaks(subject);
  const StrategySpec spec = under_release(question.strategies.front(), question.setup.release);
  return replayed_peaks(subject, spec, question.setup, control);
}

// The first of them that shows how large its device was decides.
SizedDevice device_of_both(const Subject& a, const Subject& b, const Setup& setup) {
  const SizedDevice of_a = sized_for(a, setup);
  return of_a.from == CapacityFrom::nobody ? sized_for(b, setup) : of_a;
}

RecordingsAnswer between_recordings(const Chosen& of_a, const Chosen& of_b,
                                    const DiffQuestion& question, const Control& control) {
  const Subject a = of_a.subject(control);
  const Subject b = of_b.subject(control);
  const SizedDevice device = device_of_both(a, b, question.setup);
  DiffQuestion asked = question;
  asked.setup.capacity = device.options.capacity;
  asked.setup.endless = !device.options.capacity;
  RecordingsAnswer answer;
  answer.a = summarise(of_a);
  answer.b = summarise(of_b);
  answer.diff = diff_recordings(a, peaks_of(a, asked, control), b, peaks_of(b, asked, control),
                                question.at_step, question.by);
  answer.diff.rows = question.rows;
  if (!question.strategies.empty()) answer.device = summarise(device);
  answer.interrupted = control.stopped();
  return answer;
}

StrategiesAnswer between_strategies(const Chosen& chosen, const DiffQuestion& question,
                                    const Control& control) {
  const Subject subject = chosen.subject(control);
  StrategiesAnswer answer;
  answer.trace = summarise(chosen);
  answer.device = summarise(sized_for(subject, question.setup));
  answer.streams = subject.trace().streams;
  answer.model_check = model_check(subject);
  const std::vector<StrategySpec> specs =
      asked_or_usual(question.strategies, *chosen.recording, question.setup.release);
  answer.diff = diff_strategies(subject, {specs[0], specs[1]}, question.setup, control);
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace

DiffAnswer answer(const Inputs& inputs, const DiffQuestion& question, const Control& control) {
  const std::vector<Chosen> devices = first_devices(inputs);
  if (devices.size() == 2) return between_recordings(devices[0], devices[1], question, control);
  return between_strategies(devices.front(), question, control);
}

}  // namespace memreplay
