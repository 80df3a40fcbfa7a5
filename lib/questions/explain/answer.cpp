#include "questions/explain/answer.hpp"

#include <fmt/format.h>

#include <map>

#include "core/card.hpp"
#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/explain/explained.hpp"
#include "run/inputs.hpp"

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

/// What a process has on a device beside the one that it works on. A tenth is no share of the work.
class StrayMemory {
 public:
  explicit StrayMemory(const Inputs& inputs) {
    for (const Chosen& chosen : inputs.chosen()) {
      if (chosen.recording->traces.size() < 2 || chosen.trace->gpu < 0) continue;
      const TraceSummary summary = summarise(chosen);
      const Bytes peak = summary.peak_reserved.value_or(summary.peak_requested);
      Largest& largest = largest_[chosen.recording];
      if (peak > largest.peak) largest = {peak, chosen.trace->gpu};
      peaks_[chosen.trace] = peak;
    }
  }

  /// Empty where it works on this one.
  std::string remark(const Chosen& chosen) const {
    const auto peak = peaks_.find(chosen.trace);
    if (peak == peaks_.end() || peak->second == 0) return {};
    const Largest& largest = largest_.at(chosen.recording);
    if (peak->second > largest.peak / 10) return {};
    return fmt::format(
        "The same process has up to {} on {}. If {} is another rank's card, that rank lacks what "
        "is here, and the CUDA context of this process beside it (some {}). {}",
        human_size(largest.peak), gpu_label(largest.gpu), gpu_label(chosen.trace->gpu),
        human_size(kContext), kOwnCardEach);
  }

 private:
  struct Largest {
    Bytes peak = 0;
    int gpu = 0;
  };
  std::map<const Recording*, Largest> largest_;
  std::map<const Trace*, Bytes> peaks_;
};

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
  const StrayMemory stray(inputs);
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    ExplainedDevice device = explained(chosen, chosen.subject(control), question, control, progress,
                                       stray.remark(chosen));
    if (device.finished) answer.devices.push_back(std::move(device));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay
