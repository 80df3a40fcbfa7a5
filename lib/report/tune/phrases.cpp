#include "report/tune/phrases.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

std::string bounds(const BytesInterval& interval) {
  return interval.low == interval.high ? human_size(interval.low) : range_text(interval);
}

std::string undecided_sentence(const TuneResult& result, const LateVerdict& late) {
  const std::string setting = setting_phrase(late.setting);
  if (result.outcomes[result.best].total().ooms < result.baseline_outcome.total().ooms) {
    return fmt::format(
        "Undecided: {} may serve what {} does not. The recording starts late and does not tell; "
        "nothing is recommended.",
        setting, result.baseline);
  }
  return fmt::format(
      "Undecided: {} would reserve {}, {} reserves {}. The recording starts late and does not tell "
      "them apart; nothing is recommended.",
      setting, bounds(late.best), result.baseline, bounds(late.baseline));
}

}  // namespace

std::string list_shortened(std::string conf) {
  const std::size_t list = conf.find('[');
  if (list != std::string::npos) conf.replace(list, conf.find(']') - list + 1, "[…]");
  return conf;
}

std::string setting_phrase(const std::string& conf) {
  return conf.empty() ? "(default)" : list_shortened(conf);
}

std::string peak_phrase(const TuneOutcome& outcome) {
  const Bytes peak = outcome.total().peak_reserved;
  return outcome.estimated() ? estimated_text(peak, outcome.peak_interval()) : human_size(peak);
}

std::string export_line(const TuneResult& result, const Setting& setting) {
  return fmt::format("export {}={}", result.variable, shell_word(conf_of(setting, result.kept)));
}

std::string late_sentence(const TuneResult& result, const LateVerdict& late) {
  switch (late.kind) {
    case LateVerdict::Kind::not_late:
      return {};
    case LateVerdict::Kind::supported:
      if (late.best.high >= late.baseline.low) {
        return fmt::format(
            "{} reserves {} and serves every request; by the estimate {} runs out of memory there.",
            setting_phrase(late.setting), bounds(late.best), result.baseline);
      }
      return fmt::format("{} reserves {}, {} {}: less by the whole interval.",
                         setting_phrase(late.setting), bounds(late.best), result.baseline,
                         bounds(late.baseline));
    case LateVerdict::Kind::undecided:
      return undecided_sentence(result, late);
    case LateVerdict::Kind::nothing_better:
      return "Nothing helps: by the estimates no setting tried is better than the one in use by "
             "more than a hundredth.";
    case LateVerdict::Kind::interrupted:
      return "Undecided: interrupted before what came before the recording was weighed; nothing is "
             "recommended.";
  }
  return {};
}

}  // namespace memreplay
