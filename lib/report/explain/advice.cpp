#include <fmt/format.h>

#include "core/text.hpp"
#include "report/explain/message_phrases.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/recording_advice.hpp"
#include "report/parts/refusals.hpp"
#include "report/parts/sentences.hpp"
#include "report/tune/phrases.hpp"

namespace memreplay {
namespace {

std::string setting_of_best(const TuneResult& tuned) {
  const std::string conf = tuned.conf(tuned.outcomes[tuned.best]);
  return conf.empty() ? "the default setting" : conf;
}

}  // namespace

std::string advice(const ExplainedDevice& device) {
  if (!device.messages.empty()) return message_advice(device.messages.front());
  const Explanation& e = device.explanation;
  if (!device.tuned || e.cause == Cause::shortage ||
      (e.moment == Explanation::Moment::event && !e.at_oom))
    return {};
  const TuneResult& tuned = *device.tuned;
  const TuneOutcome& best_outcome = tuned.outcomes[tuned.best];
  const std::string more =
      device.trace.path == "-"
          ? ""
          : " Try:\nmemreplay tune " + path_word(device.trace.path) + device.options;
  if (tuned.shortage) return fmt::format("No setting helps: {}.", too_much_phrase(*tuned.shortage));
  using Kind = LateVerdict::Kind;
  const Kind late = device.late.kind;
  if (late == Kind::undecided || late == Kind::interrupted) {
    return late_sentence(tuned, device.late) + more;
  }
  const std::string estimate = best_outcome.is_exact() ? "" : ", an estimate";
  const bool fails = e.at_oom || !tuned.baseline_outcome.serves();
  if (fails && best_outcome.serves()) {
    const bool early = device.trace.early_end.has_value();
    return fmt::format("{} serves every {}request (reserves {}{}{}).{}", setting_of_best(tuned),
                       early ? "recorded " : "", bounded(peak_phrase(best_outcome), early),
                       early ? "" : " at most", estimate, more);
  }
  if (fails) {
    return fmt::format("None of {} tried serves every request.{}{}",
                       counted(tuned.tried, "setting"), more, more.empty() ? "" : " --runs 5000");
  }
  if (!tuned.helps) return {};
  if (late == Kind::supported) {
    return fmt::format("Throughout, {}{}", late_sentence(tuned, device.late), more);
  }
  return fmt::format("Throughout, {}{}{}", gain_sentence(tuned),
                     best_outcome.is_exact() ? "" : " It is an estimate.", more);
}

}  // namespace memreplay
