#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/parts/json_parts.hpp"
#include "report/parts/sentences.hpp"
#include "report/tune/phrases.hpp"
#include "report/tune/tune.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBestRows = 6;
constexpr std::size_t kOtherRows = 6;

std::string conf(const TuneReport& report, const Setting& setting) {
  return conf_of(setting, report.result.kept);
}

bool is_exact(const TuneOutcome& outcome) {
  return std::ranges::all_of(outcome.inexact_because, &std::string::empty);
}

// For the table: lists shortened, and how many settings are like it.
std::string named(const TuneReport& report, const TuneOutcome& outcome) {
  const std::string name = setting_phrase(conf(report, outcome.settings.front()));
  const std::size_t others = outcome.settings.size() - 1;
  return others == 0 ? name : fmt::format("{} (+{} alike)", name, human_count(others));
}

std::vector<std::string> row(const std::string& rank, const std::string& name,
                             const TuneOutcome& outcome) {
  const RunSoFar total = outcome.total();
  const bool unknown = !is_exact(outcome) && !outcome.estimated();
  return {fmt::format("{:>4}  {}{}", rank, name, unknown ? " (estimate)" : ""),
          peak_phrase(outcome), human_count(total.ooms), human_count(total.oom_retries),
          human_count(total.device_calls)};
}

// The best by rank, what is recommended, the best in other respects and the baseline. Of rows that
// that have the same figures, or settings that look alike, the first.
Table ranking(const TuneReport& report) {
  const TuneResult& r = report.result;
  Table table{{{"rank  setting", true}, {"peak reserved"}, {"OOMs"}, {"retries"}, {"device calls"}},
              {}};
  std::set<std::vector<std::string>> shown_figures;
  std::set<std::string> shown_names;
  const auto add = [&](std::size_t i) {
    std::vector<std::string> cells =
        row(std::to_string(i + 1), named(report, r.outcomes[i]), r.outcomes[i]);
    const bool other_figures = shown_figures.insert({cells.begin() + 1, cells.end()}).second;
    const bool other_name =
        shown_names.insert(list_shortened(conf(report, r.outcomes[i].settings.front()))).second;
    if ((other_figures && other_name) || i == r.best) table.rows.push_back(std::move(cells));
  };
  const std::uint64_t fewest_ooms = r.outcomes.front().total().ooms;
  for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
    const TuneOutcome& outcome = r.outcomes[i];
    const bool front = outcome.pareto && outcome.total().ooms == fewest_ooms;
    if (table.rows.size() < kBestRows || i == r.best ||
        (front && table.rows.size() < kBestRows + kOtherRows)) {
      add(i);
    }
  }
  table.rows.push_back(
      row("·",
          fmt::format("{}{} {}", r.baseline, r.without_insertions ? " + empty_cache" : "",
                      r.baseline_conf.empty() ? "(default)" : r.baseline_conf),
          r.baseline_outcome));
  return table;
}

std::uint64_t serving(const TuneResult& r) {
  std::uint64_t settings = 0;
  for (const TuneOutcome& outcome : r.outcomes) {
    if (outcome.serves()) settings += outcome.settings.size();
  }
  return settings;
}

std::string effort(const TuneReport& report) {
  const TuneResult& r = report.result;
  std::string text = fmt::format("{} tried by {}, {} different {}.", counted(r.tried, "setting"),
                                 counted(r.replayed, "replay"), human_count(r.outcomes.size()),
                                 r.outcomes.size() == 1 ? "outcome" : "outcomes");
  if (r.abandoned > 0) {
    text += fmt::format(" {} ended early: another setting was better in every respect.",
                        counted(r.abandoned, "replay"));
  }
  if (!r.every_split_size) {
    text +=
        " Not every max_split_size_mb was tried that could change something; --runs allows more.";
  }
  if (report.late.weighed < report.late.open) {
    text += fmt::format(
        " {} of {} were weighed against what came before; the others stand behind them, as the "
        "recording alone has it.",
        human_count(report.late.weighed), counted(report.late.open, "outcome"));
  }
  if (!r.finished) text += " The search was cut short.";
  return text;
}

std::string retries(std::uint64_t count) {
  return count == 1 ? "1 retry" : human_count(count) + " retries";
}

std::string still_fails(const RunSoFar& run) {
  if (run.ooms == 0) return {};
  return fmt::format(" It still runs out of memory {}, as every setting tried does.",
                     counted(run.ooms, "time"));
}

std::string answer(const TuneReport& report) {
  const TuneResult& r = report.result;
  const RunSoFar now = r.baseline_outcome.total();
  const RunSoFar then = r.outcomes[r.best].total();
  const TuneOutcome& best = r.outcomes[r.best];
  const std::string setting = setting_phrase(conf(report, best.settings.front()));
  const bool late = report.late.kind != LateVerdict::Kind::not_late;
  if (late && !r.helps) {
    const bool helpless = report.late.kind == LateVerdict::Kind::nothing_better;
    return late_sentence(r, report.late) + (helpless ? still_fails(now) : "");
  }
  if (!r.helps) {
    return "Nothing helps: no setting tried is better than the one in use by more than a "
           "hundredth." +
           still_fails(now);
  }
  if (now.ooms > 0 && then.ooms == 0) {
    return fmt::format("{} serves every request: it reserves {} at most. {} the failure.", setting,
                       peak_phrase(best),
                       serving(r) == 1 ? "1 setting tried avoids"
                                       : human_count(serving(r)) + " settings tried avoid");
  }
  if (then.ooms < now.ooms) {
    return fmt::format("{} runs out of memory {}, {} {}; no setting tried serves everything.",
                       setting, counted(then.ooms, "time"), r.baseline, counted(now.ooms, "time"));
  }
  if (late) return late_sentence(r, report.late);
  if (r.objective == Objective::reserved) {
    return fmt::format("{} reserves {} less than {}: {} instead of {}.{}", setting,
                       human_size(now.peak_reserved - then.peak_reserved), r.baseline,
                       human_size(then.peak_reserved), human_size(now.peak_reserved),
                       still_fails(then));
  }
  return fmt::format("{} makes {} with {}, {} {} with {}.{}", setting,
                     counted(then.device_calls, "device call"), retries(then.oom_retries),
                     r.baseline, human_count(now.device_calls), retries(now.oom_retries),
                     still_fails(then));
}

// What the simplest gives away.
std::string simplicity(const TuneReport& report) {
  const TuneResult& r = report.result;
  const RunSoFar first = r.outcomes.front().total();
  const RunSoFar best = r.outcomes[r.best].total();
  if (report.late.kind != LateVerdict::Kind::not_late) return {};  // the rows say it with intervals
  if (!r.helps || first.peak_reserved >= best.peak_reserved) return {};
  return fmt::format("The first in rank reserves {} less; {} is simpler.",
                     human_size(best.peak_reserved - first.peak_reserved),
                     setting_phrase(conf(report, r.outcomes[r.best].settings.front())));
}

// What the cheapest in bytes costs in calls, where another setting makes fewer.
std::string price(const TuneReport& report) {
  const TuneResult& r = report.result;
  const RunSoFar best = r.outcomes[r.best].total();
  const TuneOutcome* fewest = nullptr;
  for (const TuneOutcome& outcome : r.outcomes) {
    const RunSoFar total = outcome.total();
    if (!outcome.pareto || total.ooms != best.ooms || total.device_calls >= best.device_calls ||
        !is_exact(outcome)) {
      continue;
    }
    if (fewest == nullptr || total.device_calls < fewest->total().device_calls) fewest = &outcome;
  }
  if (fewest == nullptr) return {};
  const RunSoFar total = fewest->total();
  return fmt::format("Fewest device calls: {} makes {} instead of {} and reserves {}.",
                     setting_phrase(conf(report, fewest->settings.front())),
                     human_count(total.device_calls), human_count(best.device_calls),
                     human_size(total.peak_reserved));
}

void append(std::string& out, const std::string& text) {
  if (!text.empty()) out += ' ' + wrapped(text, 1) + '\n';
}

RunReport run_of(const TuneReport& report, const TuneOutcome& outcome, std::size_t trace,
                 const std::string& strategy, std::size_t place) {
  RunReport run;
  run.strategy = strategy;
  run.gpu = report.traces[trace].gpu;
  run.place = place;
  run.inexact_because = outcome.inexact_because[trace];
  run.exact = run.inexact_because.empty();
  run.metrics = outcome.metrics[trace];
  if (!outcome.late.empty() && outcome.late[trace]) run.interval = outcome.late[trace]->interval;
  return run;
}

std::string strategy_text(const std::string& conf) {
  return conf.empty() ? "torch" : "torch:" + conf;
}

Json runs_json(const TuneReport& report, std::size_t trace) {
  Json runs = Json::array();
  std::size_t place = 0;
  for (const TuneOutcome& outcome : report.result.outcomes) {
    const std::string first = conf(report, outcome.settings.front());
    Json run = run_json(run_of(report, outcome, trace, strategy_text(first), ++place));
    run["settings"] = Json::array();
    for (const Setting& setting : outcome.settings)
      run["settings"].push_back(conf(report, setting));
    run["pareto"] = outcome.pareto;
    runs.push_back(std::move(run));
  }
  return runs;
}

// The reserved peak; null where the recordings determine it, or it was not looked into.
Json late_json(const LateVerdict& late) {
  using Kind = LateVerdict::Kind;
  if (late.kind == Kind::not_late || late.kind == Kind::interrupted) return nullptr;
  return {{"peak_reserved_bytes", {late.best.low, late.best.high}},
          {"baseline_peak_reserved_bytes", {late.baseline.low, late.baseline.high}}};
}

}  // namespace

std::string export_line(const TuneReport& report, const Setting& setting) {
  const std::string value = conf(report, setting);
  // Brackets and '>' mean something to a shell.
  const bool plain = value.find_first_of("[]>") == std::string::npos;
  return fmt::format("export {}={}", report.result.variable,
                     plain ? (value.empty() ? "\"\"" : value) : '"' + value + '"');
}

std::string tune_text(const TuneReport& report, const TextStyle& style) {
  const TuneResult& r = report.result;
  std::string out = ' ' + bold(wrapped(answer(report), 1), style) + "\n\n";
  const bool several = report.traces.size() > 1;
  for (std::size_t i = 0; i < report.traces.size(); ++i) {
    const TraceSummary& trace = report.traces[i];
    const std::string model = model_sentence({trace, {}, {}, report.model_checks[i]});
    const std::optional<Bytes> capacity = report.devices[i].capacity;
    append(out,
           fmt::format("{}{}: {}{}{}", trace.path, several ? fmt::format(" gpu {}", trace.gpu) : "",
                       coverage_phrase(trace), model.empty() ? "" : "; ", model));
    append(out,
           fmt::format("on a device {}, by the rules of PyTorch {}",
                       capacity ? "of " + human_size(*capacity) : "without limit (see --capacity)",
                       r.torch_version));
  }
  if (several) {
    append(out,
           "Of all traces together: the highest peak, and the sums of OOMs, retries and device "
           "calls.");
  }
  out += '\n' + text_table(ranking(report));
  append(out, effort(report));
  append(out, simplicity(report));
  append(out, price(report));
  if (r.helps) {
    out += "\n " + bold(export_line(report, r.outcomes[r.best].settings.front()), style) + '\n';
  }
  if (!report.remarks.empty()) out += '\n';
  for (const std::string& remark : report.remarks) append(out, remark);
  return out;
}

std::string tune_json(const TuneReport& report) {
  const TuneResult& r = report.result;
  const TuneOutcome& best = r.outcomes[r.best];
  const Json best_json = {{"setting", conf(report, best.settings.front())},
                          {"env", export_line(report, best.settings.front())},
                          {"place", r.best + 1},
                          {"helps", r.helps},
                          {"interval", late_json(report.late)}};
  std::vector<Json> results;
  for (std::size_t i = 0; i < report.traces.size(); ++i) {
    Json result =
        result_json("tune", report.traces[i], device_json(report.devices[i]), runs_json(report, i));
    result["model_check"] = nullptr;
    if (report.model_checks[i]) result["model_check"] = verify_run_json(*report.model_checks[i]);
    result["baseline"] = run_json(run_of(report, r.baseline_outcome, i, r.baseline, 0));
    result["tried"] = r.tried;
    result["replays"] = r.replayed;
    result["abandoned"] = r.abandoned;
    result["undetermined"] = report.late.open;
    result["weighed"] = report.late.weighed;
    result["every_split_size"] = r.every_split_size;
    result["finished"] = r.finished;
    result["torch_version"] = r.torch_version;
    result["best"] = best_json;
    result["remarks"] = report.remarks;
    results.push_back(std::move(result));
  }
  if (results.size() == 1) return dump(results.front());
  const auto peak = [&](std::size_t i) { return best.metrics[i].peak_reserved; };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (peak(i) > peak(worst)) worst = i;
  }
  Json object = head_json("tune");
  object["results"] = std::move(results);
  object["worst"] = worst;
  object["best"] = best_json;
  return dump(object);
}

Table tune_table(const TuneReport& report) {
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
  const TuneResult& r = report.result;
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
  add(r.baseline, r.baseline_conf, r.baseline_outcome, "", "");
  for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
    const TuneOutcome& outcome = r.outcomes[i];
    add(std::to_string(i + 1), conf(report, outcome.settings.front()), outcome,
        outcome.pareto ? "true" : "false", i == r.best ? "true" : "false");
  }
  return table;
}

}  // namespace memreplay
