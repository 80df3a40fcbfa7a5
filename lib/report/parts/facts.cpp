#include "report/parts/facts.hpp"

#include <fmt/format.h>

#include "report/parts/json_fields.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {

void facts_fields(JsonFields& f, const std::optional<RecordingFacts>& facts) {
  const RecordingFacts said = facts.value_or(RecordingFacts());
  const auto known = [&](auto value) { return facts ? std::optional(value) : std::nullopt; };
  f("whole", known(said.whole()), "nothing after its end needs more memory; null: no recording");
  f.one_of("ends", JsonFields::of(known(name_of(said.ends()))),
           {"whole", "oom_in_first_step", "oom_later", "cut"},
           "with its program, or before: at which OOM; cut: it does not show where");
  f.one_of("starts", JsonFields::of(known(said.starts_empty ? "empty" : "warm")), {"empty", "warm"},
           "warm: with blocks from before its first event");
}

void bound_field(JsonFields& f, bool at_least) {
  f("bound", at_least ? std::optional("lower") : std::nullopt,
    "lower: the recording ends early and figures are lower bounds");
}

std::string early_end_phrase(const EarlyEnd& end) {
  using Why = EarlyEnd::Why;
  const bool is_later = end.pass == EarlyEnd::Pass::later;
  const std::string rest =
      fmt::format("the rest of that step{} is not in it", end.why == Why::steps_unknown ? ""
                                                          : is_later ? " (optimizer)"
                                                                     : " (backward, optimizer)");
  switch (end.why) {
    case Why::first_step:
      return "the recording ends at the OOM of its first step; " + rest;
    case Why::unlike_earlier:
      return "the recording ends at the OOM of a step that differs from those before; " + rest;
    case Why::rest_may_need_more:
      return "the recording ends at an OOM, and the rest of that step may need more";
    case Why::steps_unknown:
      return "the recording ends at an OOM and does not show whether a whole step came before it";
    case Why::oom_untold:
      break;
  }
  return "under throw_on_cudamalloc_oom:True an OOM leaves no entry, and the recording may end at "
         "one";
}

std::string lower_bounds_sentence(const TraceSummary& trace) {
  if (!trace.early_end) return {};
  return fmt::format("Peaks are lower bounds: {}.", early_end_phrase(*trace.early_end));
}

std::string whole_recording_sentence(const TraceSummary& trace) {
  if (!trace.early_end) return {};
  if (trace.early_end->why == EarlyEnd::Why::rest_may_need_more) {
    return "For the peak with that rest:\n"
           "memreplay fit " +
           path_word(trace.path);
  }
  if (!trace.format.starts_with("torch"))
    return "For the real peak, record a run with enough memory.";
  return "For the real peak, record on a larger card, or on a virtual one:\n"
         "memreplay record --virtual-gpu h200 -o whole.pickle -- python train.py";
}

std::string bounded(const std::string& size, bool at_least) {
  return at_least ? "at least " + size : size;
}

}  // namespace memreplay
