#include "report/formats/format.hpp"
#include "report/tune/tune.hpp"

namespace memreplay {

Table to_table(const TuneAnswer& answer) {
  Table table{{{"place"},
               {"setting", true},
               {"settings_alike"},
               {"peak_reserved_bytes"},
               {"ooms"},
               {"oom_retries"},
               {"device_calls"},
               {"pareto"},
               {"best"},
               {"peak_reserved_low_bytes"},
               {"peak_reserved_high_bytes"}},
              {}};
  const TuneResult& r = answer.result;
  const auto add = [&](const std::string& place, const std::string& setting,
                       const TuneOutcome& outcome, const char* pareto, const char* best) {
    const RunSoFar total = outcome.total();
    const BytesInterval peak = outcome.peak_interval();
    const bool bounded = outcome.estimated();
    table.rows.push_back({place, setting, std::to_string(outcome.settings.size()),
                          std::to_string(total.peak_reserved), std::to_string(total.ooms),
                          std::to_string(total.oom_retries), std::to_string(total.device_calls),
                          pareto, best, bounded ? std::to_string(peak.low) : "",
                          bounded ? std::to_string(peak.high) : ""});
  };
  if (answer.nothing_requested) return table;
  add(r.baseline, r.baseline_conf, r.baseline_outcome, "", "");
  for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
    const TuneOutcome& outcome = r.outcomes[i];
    add(std::to_string(i + 1), r.conf(outcome), outcome, outcome.pareto ? "true" : "false",
        i == r.best ? "true" : "false");
  }
  return table;
}

std::string to_markdown(const TuneAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
