#include "analysis/explain/answer.hpp"

#include <fmt/format.h>

#include "analysis/explain/explained.hpp"
#include "analysis/inputs/inputs.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

/// An option that asks of one moment, or of an allocator; null where there is none.
const char* beyond_growth(const ExplainQuestion& question) {
  if (question.at.kind != At::Kind::usual) return "--at";
  if (!question.phases.empty()) return "--phase";
  if (question.by_phase) return "--by-phase";
  if (question.strategy) return "-s";
  if (question.tree) return "--tree";
  return question.stacks ? "memory by stack" : nullptr;
}

}  // namespace

ExplainAnswer answer(const Inputs& inputs, const ExplainQuestion& asked, const Control& control,
                     const ExplainProgress& progress) {
  if (const char* const other = asked.growth ? beyond_growth(asked) : nullptr) {
    throw UsageError(
        fmt::format("--growth shows what the program keeps after each step, under any allocator; "
                    "expected it without {}",
                    other));
  }
  ExplainQuestion question = asked;
  question.among_others |= inputs.chosen().size() > 1;
  ExplainAnswer answer;
  for (const Recording& recording : inputs.recordings()) {
    if (!recording.text) continue;
    answer.devices.push_back(explained_text_of(recording, question, progress));
  }
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    ExplainedDevice device =
        explained(chosen, chosen.subject(control), question, control, progress);
    if (device.finished) answer.devices.push_back(std::move(device));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
