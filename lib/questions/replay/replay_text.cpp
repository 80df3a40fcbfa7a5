#include <fmt/format.h>

#include <algorithm>

#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "questions/replay/replay_report.hpp"
#include "questions/replay/sections.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/plot.hpp"
#include "report/parts/prediction.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"
#include "run/answer.hpp"

/// What must be known beside the figures of the runs of one trace.

namespace memreplay {
namespace {

void append_warning(Sheet& out, const std::string& warning) {
  Sheet paragraph(out.style());
  append_paragraph(paragraph, "warning: " + warning);
  std::string text = paragraph.text();
  constexpr std::string_view kWord = "warning:";
  out += text.replace(text.find(kWord), kWord.size(), red(kWord, out.style()));
}

std::vector<std::string> agreement_phrases(const Run& run) {
  std::string phrase = agreement_phrase(run);
  if (phrase.empty()) return {};
  return {std::move(phrase)};
}

std::string stopped_sentence(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    if (run.stopped_at_oom) names.push_back(run.name());
  }
  if (names.empty()) return {};
  return fmt::format("Stopped at the first OOM, as requested: {}. Figures are those up to there.",
                     fmt::join(names, ", "));
}

/// Warnings, what is estimated and what allocators remark, each once.
void append_notes(Sheet& out, const TraceRuns& report) {
  const std::vector<Run>& runs = report.runs;
  for (const std::string& warning : oom_warnings(runs)) append_warning(out, warning);
  for (const std::string& sentence : served_sentences(runs)) append_paragraph(out, sentence);
  const auto append_phrases = [&](const auto& phrases_of) {
    for (const std::string& said : phrases_once(runs, phrases_of)) append_paragraph(out, said);
  };
  append_phrases([](const Run& run) { return run.metrics.remarks; });
  for (const std::string& sentence : inexact_sentences(runs)) append_paragraph(out, sentence);
  append_phrases(real_phrases);
  append_phrases(agreement_phrases);
  append_paragraph(out, stopped_sentence(runs));
  append_paragraph(out, whole_recording_sentence(report.trace));
}

/// What was not run, or not to the end.
void append_unfinished(Sheet& out, const TraceRuns& report) {
  std::string text;
  const std::size_t run = report.runs.size();
  if (run < report.asked) {
    text =
        fmt::format("{} of {} not run", human_count(report.asked - run), human_count(report.asked));
  }
  for (const Run& cut : report.runs) {
    if (!cut.interrupted()) continue;
    text += fmt::format("{}{} cut short after {} of {}", text.empty() ? "" : "; ", cut.name(),
                        human_count(cut.metrics.events), counted(report.trace.events, "event"));
  }
  if (!text.empty()) append_paragraph(out, "Interrupted: " + text + '.');
}

std::string place_name(const TraceRuns& report, bool several) {
  if (report.trace.predicted) {
    const std::string name = prediction_name(*report.trace.predicted);
    return several ? fmt::format("{}, {}", name, gpu_label(report.trace.gpu)) : name;
  }
  return several ? fmt::format("{} {}", report.trace.path, gpu_label(report.trace.gpu))
                 : report.trace.path;
}

std::string device_phrase(const DeviceSummary& device) {
  if (device.name) return fmt::format("{}, {}", device.text, *device.name);
  return device.capacity ? fmt::format("a device of {}", human_size(*device.capacity))
                         : std::string("a device without limit");
}

// One that nobody described, and that refused what the recorded one refused.
std::string device_phrase(const Run& run) {
  const bool refused = run.metrics.ooms > 0 || run.metrics.oom_retries > 0;
  const bool own = run.as_recorded && refused && !run.device.capacity;
  return own ? "the recorded device" : device_phrase(run.device);
}

std::string verdict(const Run& run) {
  if (const auto& oom = run.metrics.first_oom) {
    const bool is_known = oom->told == OomPlace::RefusedBy::replayed;
    return fmt::format("out of memory at event {}{}", human_count(oom->event),
                       is_known ? " on " + device_phrase(run) : ", as recorded");
  }
  if (run.interrupted()) return "interrupted; no OOM until then";
  if (run.refused_before > 0) {
    return fmt::format("out of memory before the recording begins, by the estimate, on {}",
                       device_phrase(run));
  }
  const std::string cost = transfer_cost(run);
  if (run.at_least) {
    return fmt::format("serves all that is recorded on {}; what the rest needs is unknown",
                       device_phrase(run));
  }
  return fmt::format("fits {}{}{}", device_phrase(run), cost.empty() ? "" : ", but ", cost);
}

std::string percent(double share) {
  return share >= 0 && share <= 1 ? fmt::format("{:.1f} %", share * 100) : std::string("-");
}

std::string device_seconds(const RunMetrics& m) {
  if (!m.real || !m.times) return fmt::format("modelled {:.3g} s", m.modelled_device_seconds);
  return fmt::format("{:.3g} s in its driver", static_cast<double>(m.times->driver_ns()) / 1e9);
}

std::string numbers(const Run& run, std::size_t width) {
  constexpr std::size_t kColumn = 15;
  const RunMetrics& m = run.metrics;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("   {:<12}{}\n", name, wrapped(text, kColumn, width));
  };
  line("MaxInUse",
       fmt::format("{}, for {} requested", bounded(human_size(m.peak_allocated), run.at_least),
                   human_size(m.peak_requested)));
  const std::string gap = m.peak_reserved >= m.peak_allocated ? human_size(m.gap()) : "-";
  if (run.interval) {
    line("reserved", fmt::format("peak {}; gap {}", reserved_text(run), gap));
    line("", "at the end " + estimated_text(m.end_reserved, run.interval->end_reserved));
  } else {
    line("reserved", fmt::format("peak {}, at the end {}; gap {}", reserved_text(run),
                                 human_size(m.end_reserved), gap));
  }
  line("at the end", fmt::format("{} requested, {} allocated", human_size(m.end_requested),
                                 human_size(m.end_allocated)));
  // What is free and in pieces at the peak is no waste: it may be in use a moment later.
  line("waste", fmt::format("{} of {} reserved {}", gap,
                            run.interval ? "what is" : "the " + human_size(m.peak_reserved),
                            run.at_least ? "at the peak" : "at most"));
  line("", fmt::format("rounding {} of what is allocated", percent(m.internal_fragmentation)));
  line("OOM",
       fmt::format("{}, {}", counted(m.ooms, "time"),
                   m.oom_retries == 1 ? "1 retry" : human_count(m.oom_retries) + " retries"));
  line("device", fmt::format("{} and {}, {}", counted(m.device_allocs, "allocation"),
                             counted(m.device_frees, "free"), device_seconds(m)));
  if (m.device_maps + m.device_unmaps > 0) {
    line("", fmt::format("{} and {}", counted(m.device_maps, "map"),
                         counted(m.device_unmaps, "unmap")));
  }
  const double rate = static_cast<double>(m.events) / m.replay_seconds;
  line("replayed", m.replay_seconds > 0 && m.events > 0
                       ? fmt::format("{} in {:.3g} s, {:.3g} M events/s",
                                     counted(m.events, "event"), m.replay_seconds, rate / 1e6)
                       : counted(m.events, "event"));
  if (m.repeat_seconds.size() > 1) {
    const auto [least, most] = std::ranges::minmax(m.repeat_seconds);
    line("", fmt::format("the median of {}, from {:.3g} to {:.3g} s",
                         counted(m.repeat_seconds.size(), "replay"), least, most));
  }
  return out;
}

void append_head(Sheet& out, const TraceRuns& report, bool several) {
  const std::string model = report.trace.predicted ? "" : model_sentence(report);
  append_paragraph(out, state_sentence(report.state_beyond));
  append_paragraph(out, lower_bounds_sentence(report.trace));
  append_paragraph(out, pluggable_pools_sentence(report.trace));
  append_paragraph(out, place_name(report, several) + ": " + coverage_phrase(report.trace) +
                            (model.empty() ? "" : "; ") + model);
  if (report.trace.predicted) {
    for (const std::string& sentence : prediction_sentences(*report.trace.predicted)) {
      append_paragraph(out, sentence);
    }
  }
  append_paragraph(out, capacity_sentence(report.device));
}

// What else there is to say of the others is whether they agree with it.
std::vector<Run> on_first_device(const std::vector<Run>& runs) {
  std::vector<Run> first;
  for (const Run& run : runs) {
    if (run.device.text == runs.front().device.text) first.push_back(run);
  }
  set_places(first);
  return first;
}

bool asks_for_memory(const TraceRuns& report) {
  return report.trace.allocs + report.trace.preexisting_blocks > 0;
}

// Which rank is worst, and how far the ranks are apart.
void append_spread(Sheet& out, const std::vector<TraceRuns>& reports) {
  std::vector<Bytes> peaks;
  for (const TraceRuns& report : reports) {
    if (report.runs.empty() || report.runs.front().interrupted() || !asks_for_memory(report)) {
      continue;
    }
    peaks.push_back(report.runs.front().metrics.peak_reserved);
  }
  if (peaks.size() < 2) return;
  const TraceRuns& worst = reports[worst_of(reports)];
  const auto [low, high] = std::ranges::minmax(peaks);
  out += '\n';
  const std::string range =
      low == high ? fmt::format("is {} in each", human_size(low))
                  : fmt::format("lies between {} and {}", human_size(low), human_size(high));
  append_paragraph(out,
                   fmt::format("Worst of {}: {}. Peak reserved {}.", counted(peaks.size(), "trace"),
                               place_name(worst, true), range));
}

/// Appends `below` after an empty line.
void append_apart(Sheet& out, const std::string& below) {
  if (below.empty()) return;
  out += '\n';
  out += below;
}

// Lines whose breaks and blanks matter.
std::string fenced(std::string lines, const TextStyle& style) {
  if (!style.markdown || lines.empty()) return lines;
  std::ranges::replace(lines, '`', '\'');
  return "```\n" + lines + "```\n";
}

void append_run(Sheet& out, const Run& run) {
  const TextStyle& style = out.style();
  const std::string line = wrapped(fmt::format("{}: {}", run.name(), verdict(run)), 1, out.width());
  const std::string name = line.substr(0, run.name().size());
  const std::string said = line.substr(run.name().size());
  out +=
      fmt::format("\n {}{}\n", bold(name, style), run.metrics.first_oom ? red(said, style) : said);
  out += numbers(run, out.width());
  append_apart(out, calls_table(run, out.width()));
  if (run.picture) append_apart(out, plot(*run.picture, "allocated", style.unicode, out.width()));
}

void append_replays(Sheet& out, const std::vector<TraceRuns>& reports) {
  for (const TraceRuns& report : reports) {
    if (&report != &reports.front()) out += '\n';
    append_head(out, report, reports.size() > 1);
    for (const Run& run : report.runs) append_run(out, run);
    append_apart(out, measured_table(report, out.width()));
    Sheet below(out.style());
    append_notes(below, report);
    append_unfinished(below, report);
    if (asks_for_memory(report) && requests_nothing(report.trace)) {
      append_paragraph(below, nothing_requested_sentence(report.trace));
    }
    append_apart(out, below.text());
  }
}

std::string oom_reports(const std::vector<TraceRuns>& reports) {
  std::string out;
  for (const TraceRuns& report : reports) {
    for (const Run& run : report.runs) {
      const std::string where = reports.size() > 1 ? report.trace.path + ", " : "";
      out += fmt::format("\n {}{}: ", where, run.name());
      if (!run.metrics.first_oom) {
        out += "no OOM, nothing to report\n";
      } else if (!run.oom_report || run.oom_report->empty()) {
        out += "has no report of its own\n";
      } else {
        out += fmt::format("at event {}\n{}", human_count(run.metrics.first_oom->event),
                           *run.oom_report);
      }
    }
  }
  return out;
}

std::string unplanned_sentence(const PlannedFloor& planned) {
  if (planned.left_out_because.empty()) return {};
  return fmt::format("No planned placement is shown below: {}. Try: memreplay plan TRACE",
                     planned.left_out_because);
}

// What must be known comes before the table, so that table and winner are what one sees at the end.
void append_comparison(Sheet& out, const TraceRuns& report, bool several) {
  append_head(out, report, several);
  if (!asks_for_memory(report)) {
    return append_paragraph(out, "It requests no memory: there is nothing to compare.");
  }
  if (requests_nothing(report.trace)) {
    return append_paragraph(out, nothing_requested_sentence(report.trace));
  }
  Sheet notes(out.style());
  append_notes(notes, report);
  append_apart(out, notes.text());
  std::vector<Run> ranked = report.runs;
  sort_by_place(ranked);
  if (!ranked.empty()) {
    out += '\n';
    append_table(out, run_table(ranked, ranked.front().finished, report.planned));
    append_apart(out, fenced(measured_table(report, out.width()), out.style()));
  }
  Sheet sentences(out.style());
  append_unfinished(sentences, report);
  if (report.planned) append_paragraph(sentences, unplanned_sentence(*report.planned));
  for (const std::string& sentence : comparison_sentences(on_first_device(report.runs))) {
    append_paragraph(sentences, sentence);
  }
  append_apart(out, sentences.text());
}

void append_comparisons(Sheet& out, const std::vector<TraceRuns>& reports) {
  for (const TraceRuns& report : reports) {
    if (&report != &reports.front()) out += '\n';
    append_comparison(out, report, reports.size() > 1);
  }
}

}  // namespace

std::string to_text(const ReplayAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  if (answer.ranked) {
    append_comparisons(out, answer.traces);
  } else {
    append_replays(out, answer.traces);
  }
  append_spread(out, answer.traces);
  if (answer.torch_summary) out += fenced(torch_summaries(answer.shown()), style);
  if (answer.oom_report) out += fenced(oom_reports(answer.shown()), style);
  return out.text();
}

std::string to_markdown(const ReplayAnswer& answer) {
  if (!answer.ranked) return markdown_table(to_table(answer));
  std::string text = to_text(answer, {.colour = false, .unicode = true, .markdown = true});
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace memreplay
