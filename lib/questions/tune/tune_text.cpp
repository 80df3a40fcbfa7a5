#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/settings/phrases.hpp"
#include "questions/tune/tune_report.hpp"
#include "report/formats/format.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
std::string helpless_sentence(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  const auto state = std::ranges::find_if(answer.states_beyond,
                                          [](const auto& beyond) { return beyond.has_value(); });
  if (state != answer.states_beyond.end()) return state_sentence(*state);
  if (r.helps || (!r.none_serves && !r.shortage)) return {};
  const std::string tried =
      fmt::format("None of {} tried serves every request.", counted(r.tried, "setting"));
  const Cause cause = answer.verdict.cause;
  if (!answer.refusal || cause == Cause::address_space || cause == Cause::unknown) return tried;
  const std::string said = answer.refusal->event
                               ? refusal_sentence(answer.judged_refusal())
                               : start_refused_sentence(answer.verdict, r.baseline);
  if (answer.verdict.in_effect && answer.refusal->event) return said;
  if (!r.shortage) return said + ' ' + tried;
  std::string figures = too_much_phrase(*r.shortage);
  figures.front() = 'A';
  return fmt::format("{} {}.", said, figures);
}

namespace {

constexpr std::size_t kBestRows = 6;
constexpr std::size_t kOtherRows = 6;

// For the table: whole, to be pasted, and how many settings are like it.
std::string named(const TuneResult& result, const TuneOutcome& outcome) {
  const std::string name = whole_setting(result.conf(outcome));
  const std::size_t others = outcome.settings.size() - 1;
  return others == 0 ? name : fmt::format("{} (+{} alike)", name, human_count(others));
}

std::vector<std::string> row(const std::string& rank, const std::string& name,
                             const TuneOutcome& outcome) {
  const RunSoFar total = outcome.total();
  const bool unknown = !outcome.is_exact() && !outcome.estimated();
  return {fmt::format("{:>4}  {}{}", rank, name, unknown ? " (estimate)" : ""),
          outcome.at_least() ? human_size(outcome.peak_interval().low) : peak_phrase(outcome),
          human_count(total.ooms), human_count(total.oom_retries), human_count(total.device_calls)};
}

// The best by rank, what is recommended, the best in other respects and the baseline. Only the
// first is kept of rows that have the same figures, or settings that look alike.
Table ranking(const TuneResult& r) {
  const bool at_least = r.baseline_outcome.at_least();
  Table table{{left("   #  setting"), at_least ? "reserves at least" : "peak reserved", "OOMs",
               "retries", "device calls"}};
  std::set<std::vector<std::string>> shown_figures;
  std::set<std::string> shown_names;
  const auto add = [&](std::size_t i) {
    std::vector<std::string> cells =
        row(std::to_string(i + 1), named(r, r.outcomes[i]), r.outcomes[i]);
    const bool other_figures = shown_figures.insert({cells.begin() + 1, cells.end()}).second;
    const bool other_name = shown_names.insert(list_shortened(r.conf(r.outcomes[i]))).second;
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

std::string effort(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  std::string text = fmt::format("{} tried by {}, {} different {}.", counted(r.tried, "setting"),
                                 counted(r.replayed, "replay"), human_count(r.outcomes.size()),
                                 r.outcomes.size() == 1 ? "outcome" : "outcomes");
  if (r.abandoned > 0) {
    text += fmt::format(" {} ended early: another setting was better in every respect.",
                        counted(r.abandoned, "replay"));
  }
  if (!r.every_split_size && r.finished) {
    text +=
        " Some values of max_split_size_mb that could change something were not tried; --runs N "
        "tries more.";
  }
  if (answer.late.weighed < answer.late.open) {
    text += fmt::format(
        " {} of {} were estimated with the time before the recording; the others rank after them, "
        "by the recording alone.",
        human_count(answer.late.weighed), counted(answer.late.open, "outcome"));
  }
  if (!r.finished) text += " The search was cut short.";
  return text;
}

/// Why figures are lower bounds; empty where they are none.
std::string early_end(const TuneAnswer& answer) {
  const auto early = std::ranges::find_if(
      answer.traces, [](const TraceSummary& trace) { return trace.early_end.has_value(); });
  return early == answer.traces.end() ? std::string() : early_end_phrase(*early->early_end);
}

std::string verdict(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  const TuneOutcome& best = r.outcomes[r.best];
  const bool late = answer.late.kind != LateVerdict::Kind::not_late;
  const bool fails = r.baseline_outcome.total().ooms > 0;
  if (std::string said = helpless_sentence(answer); !said.empty()) return said;
  if (late && !r.helps) return late_sentence(r, answer.late);
  if (!r.helps) {
    if (r.finished) {
      return "Nothing helps: no setting tried is better than the one in use by more than 1 %.";
    }
    return fmt::format(
        "Undecided: the search was cut short, and none of the {} tried {}.",
        counted(r.tried, "setting"),
        fails ? "serves every request" : "is better than the one in use by more than 1 %");
  }
  const std::string setting = setting_phrase(r.conf(best));
  if (fails) {
    const std::string end = early_end(answer);
    return fmt::format(
        "{} {}. {} of {} tried {} the failure.", setting,
        end.empty()
            ? "serves every request: it reserves " + peak_phrase(best) + " at most"
            : "serves every recorded request and reserves " + peak_phrase(best) + "; " + end,
        human_count(serving(r)), counted(r.tried, "setting"), serving(r) == 1 ? "avoids" : "avoid");
  }
  return late ? late_sentence(r, answer.late) : gain_sentence(r);
}

// What the simplest gives away.
std::string simplicity(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  const RunSoFar first = r.outcomes.front().total();
  const RunSoFar best = r.outcomes[r.best].total();
  if (answer.late.kind != LateVerdict::Kind::not_late) return {};  // the rows say it with intervals
  if (!r.helps || first.peak_reserved >= best.peak_reserved) return {};
  return fmt::format("Number 1 reserves {} less; {} is simpler.",
                     human_size(best.peak_reserved - first.peak_reserved),
                     setting_phrase(r.conf(r.outcomes[r.best])));
}

// What the cheapest in bytes costs in calls, where another setting makes fewer.
std::string price(const TuneResult& r) {
  const RunSoFar best = r.outcomes[r.best].total();
  const TuneOutcome* fewest = nullptr;
  for (const TuneOutcome& outcome : r.outcomes) {
    const RunSoFar total = outcome.total();
    if (!outcome.pareto || total.ooms != best.ooms || total.device_calls >= best.device_calls ||
        !outcome.is_exact()) {
      continue;
    }
    if (fewest == nullptr || total.device_calls < fewest->total().device_calls) fewest = &outcome;
  }
  if (fewest == nullptr) return {};
  const RunSoFar total = fewest->total();
  return fmt::format("Fewest device calls: {} makes {} instead of {} and reserves {}.",
                     setting_phrase(r.conf(*fewest)), human_count(total.device_calls),
                     human_count(best.device_calls), human_size(total.peak_reserved));
}

// The line to paste, or what is worth a try where the recording does not settle it.
std::string line_to_paste(const TuneAnswer& answer, const TextStyle& style) {
  const TuneResult& r = answer.result;
  const bool likely = answer.late.kind == LateVerdict::Kind::undecided && !r.shortage;
  if (!r.helps && !likely) return {};
  return fmt::format("\n{} {}\n", r.helps ? "" : " To try it:\n", bold(line_to_set_best(r), style));
}

/// The first trace's in which anything does.
std::string growth(const TuneAnswer& answer) {
  for (std::size_t i = 0; i < answer.traces.size(); ++i) {
    const bool limited = answer.devices[i].capacity.has_value();
    std::string said = leak_sentences(
        answer.traces[i], limited ? std::optional(answer.devices[i].usable()) : std::nullopt);
    if (!said.empty()) return said;
  }
  return {};
}

/// The first trace that the baseline does not serve.
std::optional<std::size_t> first_failure(const TuneResult& result) {
  const std::vector<Run>& runs = result.baseline_outcome.runs;
  const auto failed = std::ranges::find_if_not(runs, &Run::serves);
  if (failed == runs.end()) return std::nullopt;
  return static_cast<std::size_t>(failed - runs.begin());
}

std::string text_without_requests(const TuneAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  append_paragraph(out, helpless_sentence(answer));
  std::string said;
  for (const TraceSummary& trace : answer.traces) {
    const std::string sentence = nothing_requested_sentence(trace);
    if (std::exchange(said, sentence) != sentence) append_paragraph(out, sentence);
  }
  return out.text();
}

}  // namespace

std::string to_text(const TuneAnswer& answer, const TextStyle& style) {
  if (answer.nothing_requested) return text_without_requests(answer, style);
  const TuneResult& r = answer.result;
  Sheet out(style);
  out += ' ' + bold(wrapped(verdict(answer), 1, style.width), style) + '\n';
  append_paragraph(out, growth(answer));
  out += '\n';
  const bool several = answer.traces.size() > 1;
  const std::string end = early_end(answer);
  const bool says_early_end = !end.empty() && verdict(answer).find(end) != std::string::npos;
  for (std::size_t i = 0; i < answer.traces.size(); ++i) {
    const TraceSummary& trace = answer.traces[i];
    const std::string model = model_sentence({trace, {}, {}, answer.model_checks[i]});
    const std::optional<Bytes> capacity = answer.devices[i].capacity;
    append_paragraph(
        out, fmt::format("{}{}: {}{}{}", trace.path, several ? " " + gpu_label(trace.gpu) : "",
                         coverage_phrase(trace), model.empty() ? "" : "; ", model));
    append_paragraph(out, fmt::format("on a device {}, by the rules of {}",
                                      capacity ? "of " + human_size(*capacity)
                                               : "without limit (see --capacity)",
                                      r.strategy == "torch" ? "PyTorch " + r.release : r.strategy));
    append_paragraph(out, capacity_sentence(answer.devices[i]));
    if (!says_early_end) append_paragraph(out, lower_bounds_sentence(trace));
    append_paragraph(out, pluggable_pools_sentence(trace));
    append_paragraph(out, whole_recording_sentence(trace));
  }
  if (several) {
    append_paragraph(out,
                     "Figures are for all traces together: the highest peak, and the sums of OOMs, "
                     "retries and device calls.");
  }
  out += '\n';
  append_table(out, ranking(r));
  append_paragraph(out, effort(answer));
  append_paragraph(out, simplicity(answer));
  if (helpless_sentence(answer).empty()) append_paragraph(out, price(r));
  out += line_to_paste(answer, style);
  if (!answer.remarks.empty()) out += '\n';
  for (const std::string& remark : answer.remarks) append_paragraph(out, remark);
  if (const auto failed = first_failure(r)) {
    append_paragraph(
        out, other_program_sentence(answer.traces[*failed].path, answer.devices[*failed].capacity));
  }
  append_answer_again(out, verdict(answer));
  return out.text();
}

Table to_table(const TuneAnswer& answer) {
  Table table{{"place", left("setting"), "settings_alike", "peak_reserved_bytes", "ooms",
               "oom_retries", "device_calls", "pareto", "best", "peak_reserved_low_bytes",
               "peak_reserved_high_bytes"}};
  const TuneResult& r = answer.result;
  const auto add = [&](const auto& place, const std::string& setting, const TuneOutcome& outcome,
                       const auto& pareto, const auto& best) {
    const RunSoFar total = outcome.total();
    const BytesInterval peak = outcome.peak_interval();
    const bool bounded = outcome.estimated();
    table.add(place, setting, outcome.settings.size(), total.peak_reserved, total.ooms,
              total.oom_retries, total.device_calls, pareto, best, bounded ? cell_of(peak.low) : "",
              bounded ? cell_of(peak.high) : "");
  };
  if (answer.nothing_requested) return table;
  add(r.baseline, r.baseline_conf, r.baseline_outcome, "", "");
  for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
    const TuneOutcome& outcome = r.outcomes[i];
    add(i + 1, r.conf(outcome), outcome, outcome.pareto, i == r.best);
  }
  return table;
}

std::string to_markdown(const TuneAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay
