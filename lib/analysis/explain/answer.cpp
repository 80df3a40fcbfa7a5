#include "analysis/explain/answer.hpp"

#include "analysis/explain/explained.hpp"
#include "analysis/explain/question.hpp"
#include "analysis/explain/told.hpp"
#include "analysis/recorded/inputs.hpp"

namespace memreplay {

ExplainAnswer answer(const Inputs& inputs, const ExplainQuestion& asked, const Control& control,
                     ExplainListener* listener) {
  ExplainQuestion question = asked;
  question.among_others |= inputs.chosen().size() > 1;
  ExplainAnswer answer;
  for (const Recording& recording : inputs.recordings()) {
    if (!recording.told) continue;
    answer.devices.push_back(explained_text_of(recording, question, listener));
  }
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    ExplainedDevice device =
        explained(chosen, chosen.subject(control), question, control, listener);
    if (device.finished) answer.devices.push_back(std::move(device));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
