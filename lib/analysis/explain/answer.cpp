#include "analysis/explain/answer.hpp"

#include "analysis/explain/explained.hpp"
#include "analysis/explain/question.hpp"
#include "analysis/recorded/inputs.hpp"

namespace memreplay {

ExplainAnswer answer(const Inputs& inputs, const ExplainQuestion& question,
                     const Control& control) {
  ExplainAnswer answer;
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    answer.devices.push_back(explained(chosen, chosen.subject(control), question, control));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
