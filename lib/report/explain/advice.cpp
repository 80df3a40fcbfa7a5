#include <fmt/format.h>

#include "core/text.hpp"
#include "report/explain/phrases.hpp"
#include "report/parts/paragraphs.hpp"
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
  if (device.told) return told_advice(device);
  const Explanation& e = device.explanation;
  if (!device.tuned || e.cause == Cause::shortage ||
      (e.moment == Explanation::Moment::event && !e.at_oom))
    return {};
  const TuneResult& tuned = *device.tuned;
  const TuneOutcome& best_outcome = tuned.outcomes[tuned.best];
  const RunSoFar best = best_outcome.total();
  const RunSoFar now = tuned.baseline_outcome.total();
  const std::string more =
      device.trace.path == "-"
          ? ""
          : " Try:\nmemreplay tune " + path_word(device.trace.path) + device.options;
  if (tuned.shortage) return shortage_sentence(tuned);
  using Kind = LateVerdict::Kind;
  const Kind late = device.late.kind;
  if (late == Kind::undecided || late == Kind::interrupted) {
    return late_sentence(tuned, device.late) + more;
  }
  const std::string estimate = best_outcome.is_exact() ? "" : ", an estimate";
  if (best.ooms < now.ooms || (e.at_oom && best.ooms == 0)) {
    const char* all = e.at_oom ? "this request" : "every request";
    return fmt::format("{} serves {} (reserves {}{}{}).{}", setting_of_best(tuned),
                       best.ooms == 0 ? all : "more requests", peak_phrase(best_outcome),
                       e.at_oom ? " by then" : " at most", estimate, more);
  }
  if (e.at_oom) {
    return fmt::format("None of {} tried serves this request.{}{}", counted(tuned.tried, "setting"),
                       more, more.empty() ? "" : " --runs 5000");
  }
  if (!tuned.helps) return {};
  if (late == Kind::supported) {
    return fmt::format("Throughout, {}{}", late_sentence(tuned, device.late), more);
  }
  return fmt::format("Throughout, {}{}{}", gain_sentence(tuned),
                     best_outcome.is_exact() ? "" : " It is an estimate.", more);
}

}  // namespace memreplay
