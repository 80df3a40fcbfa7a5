#include "questions/settings/phrases.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

// What the recording does not settle, by what is likeliest.
std::string likely_sentence(const TuneResult& result, const LateVerdict& late) {
  const TuneOutcome& best = result.outcomes[result.best];
  const RunSoFar now = result.baseline_outcome.total();
  const RunSoFar then = best.total();
  const std::string setting = whole_setting(late.setting);
  std::string text;
  if (best.serves() && !result.baseline_outcome.serves()) {
    text = fmt::format("{} probably serves every request, unlike {}, and reserves {}.", setting,
                       result.baseline, peak_phrase(best));
  } else {
    text = fmt::format("{} probably reserves {}, {} {}.", setting, peak_phrase(best),
                       result.baseline, peak_phrase(result.baseline_outcome));
    if (then.oom_retries < now.oom_retries) {
      text = fmt::format("{} probably needs {} instead of the {} of {}, and reserves {}.", setting,
                         retries_phrase(then.oom_retries), human_count(now.oom_retries),
                         result.baseline, peak_phrase(best));
    }
  }
  return text + " The recording starts late, so this is not certain. To be sure, " +
         better_recording(late.larger_before);
}

// On a device that was full: what each retry costs, and what else changes.
std::string fewer_retries(const TuneResult& r, const RunSoFar& now, const RunSoFar& then) {
  const std::string before = human_size(now.peak_reserved);
  const std::string after = human_size(then.peak_reserved);
  return fmt::format(
      "{} needs {} instead of the {} of {}: the device was full, and each retry empties the cache "
      "and waits for the device. It reserves {}, with {} device calls instead of {}.",
      setting_phrase(r.conf(r.outcomes[r.best])), retries_phrase(then.oom_retries),
      human_count(now.oom_retries), r.baseline,
      before == after ? after + " too" : fmt::format("{} instead of {}", after, before),
      human_count(then.device_calls), human_count(now.device_calls));
}

}  // namespace

std::string list_shortened(std::string conf) {
  const std::size_t list = conf.find('[');
  if (list != std::string::npos) conf.replace(list, conf.find(']') - list + 1, "[…]");
  return conf;
}

std::string setting_phrase(const std::string& conf) { return whole_setting(list_shortened(conf)); }

std::string whole_setting(const std::string& conf) { return conf.empty() ? "(default)" : conf; }

std::string peak_phrase(const TuneOutcome& outcome) {
  const Bytes peak = outcome.total().peak_reserved;
  if (outcome.at_least()) return bounded(human_size(outcome.peak_interval().low), true);
  return outcome.estimated() ? estimated_text(peak, outcome.peak_interval()) : human_size(peak);
}

std::string retries_phrase(std::uint64_t count) {
  if (count == 0) return "no retry";
  return count == 1 ? "1 retry" : human_count(count) + " retries";
}

std::string gain_sentence(const TuneResult& r) {
  const RunSoFar now = r.baseline_outcome.total();
  const RunSoFar then = r.outcomes[r.best].total();
  const std::string setting = setting_phrase(r.conf(r.outcomes[r.best]));
  const bool full = r.objective == Objective::full_device;
  if (full && then.oom_retries < now.oom_retries) return fewer_retries(r, now, then);
  if (r.objective == Objective::reserved || (full && then.peak_reserved < now.peak_reserved)) {
    const std::vector<std::string> peaks = sizes_beside({then.peak_reserved, now.peak_reserved});
    return fmt::format("{} reserves {} less than {}: {} instead of {}.", setting,
                       human_size(now.peak_reserved - then.peak_reserved), r.baseline, peaks[0],
                       peaks[1]);
  }
  return fmt::format("{} makes {} with {}, {} {} with {}.", setting,
                     counted(then.device_calls, "device call"), retries_phrase(then.oom_retries),
                     r.baseline, human_count(now.device_calls), retries_phrase(now.oom_retries));
}

std::string line_to_set_best(const TuneResult& result) {
  if (!result.as_set.empty()) return result.as_set;
  const Setting& setting = result.outcomes[result.best].settings.front();
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
            whole_setting(late.setting), range_text(late.best), result.baseline);
      }
      return fmt::format("{} reserves {}, {} {}: the ranges do not overlap.",
                         whole_setting(late.setting), range_text(late.best), result.baseline,
                         range_text(late.baseline));
    case LateVerdict::Kind::undecided:
      return likely_sentence(result, late);
    case LateVerdict::Kind::nothing_better:
      return "Nothing helps: by the estimates no setting tried is better than the one in use by "
             "more than 1 %.";
    case LateVerdict::Kind::interrupted:
      return "Undecided: interrupted before the time before the recording was estimated; nothing "
             "is recommended.";
  }
  return {};
}

}  // namespace memreplay
