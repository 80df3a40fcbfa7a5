#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/parts/paragraphs.hpp"
#include "report/parts/plot.hpp"
#include "report/parts/sentences.hpp"
#include "report/run/real.hpp"
#include "report/run/run.hpp"
#include "report/run/torch_summary.hpp"

namespace memreplay {
namespace {

std::string place_name(const TraceRuns& report, bool several) {
  return several ? fmt::format("{} gpu {}", report.trace.path, report.trace.gpu)
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
  if (run.metrics.first_oom) {
    return fmt::format("out of memory at event {} on {}", human_count(run.metrics.first_oom->event),
                       device_phrase(run));
  }
  if (!run.finished) return "interrupted; no OOM until then";
  if (run.refused_before > 0) {
    return fmt::format("out of memory before the recording begins, by the estimate, on {}",
                       device_phrase(run));
  }
  const std::string cost = transfer_cost(run);
  return fmt::format("fits {}{}{}", device_phrase(run), cost.empty() ? "" : ", but ", cost);
}

std::string percent(double share) {
  return share >= 0 && share <= 1 ? fmt::format("{:.1f} %", share * 100) : std::string("-");
}

std::string device_seconds(const RunMetrics& m) {
  if (!m.real || !m.times) return fmt::format("modelled {:.3g} s", m.modelled_device_seconds);
  return fmt::format("{:.3g} s in its driver", static_cast<double>(m.times->driver_ns()) / 1e9);
}

std::string numbers(const Run& run) {
  const RunMetrics& m = run.metrics;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("   {:<12}{}\n", name, text);
  };
  line("MaxInUse", fmt::format("{}, for {} requested", human_size(m.peak_allocated),
                               human_size(m.peak_requested)));
  const std::string gap = m.peak_reserved >= m.peak_allocated ? human_size(m.gap()) : "-";
  if (run.interval) {
    line("reserved",
         fmt::format("peak {}; gap {}",
                     estimated_text(m.peak_reserved, run.interval->peak_reserved), gap));
    line("", "at the end " + estimated_text(m.end_reserved, run.interval->end_reserved));
  } else {
    line("reserved", fmt::format("peak {}, at the end {}; gap {}", human_size(m.peak_reserved),
                                 human_size(m.end_reserved), gap));
  }
  line("at the end", fmt::format("{} requested, {} allocated", human_size(m.end_requested),
                                 human_size(m.end_allocated)));
  // What is free and in pieces at the peak is no waste while it is in use a moment later.
  const double gap_share = 1 - static_cast<double>(m.peak_allocated) /
                                   static_cast<double>(std::max<Bytes>(m.peak_reserved, 1));
  line("waste", fmt::format("gap {} of what is reserved, rounding {} of what is allocated",
                            percent(gap_share), percent(m.internal_fragmentation)));
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

void say(std::string& out, const std::string& text, const TextStyle& style) {
  if (!style.markdown) return append_paragraph(out, text);
  if (!text.empty()) out += text + "\n\n";
}

/// Appends what is said of runs: each phrase once, after all of whom it holds.
template <typename PhrasesOf>
void append_phrases(std::string& out, const TraceRuns& report, const TextStyle& style,
                    const PhrasesOf& phrases_of) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const Run& run : report.runs) {
    for (const std::string& phrase : phrases_of(run)) {
      auto same = std::ranges::find(all, phrase, [](const auto& other) { return other.first; });
      if (same == all.end()) same = all.insert(all.end(), {phrase, {}});
      if (std::ranges::find(same->second, run.strategy) == same->second.end()) {
        same->second.push_back(run.strategy);
      }
    }
  }
  for (const auto& [phrase, strategies] : all) {
    say(out, fmt::format("{}: {}.", fmt::join(strategies, ", "), phrase), style);
  }
}

std::string notes(const TraceRuns& report, const TextStyle& style) {
  std::string out;
  for (const Run& run : report.runs) {
    const std::string warning = oom_warning(run);
    if (warning.empty()) continue;
    say(out, "warning: " + warning, style);
  }
  for (const Run& run : report.runs) say(out, served_sentence(run), style);
  append_phrases(out, report, style, [](const Run& run) { return run.metrics.remarks; });
  for (const Run& run : report.runs) say(out, inexact_sentence(run), style);
  append_phrases(out, report, style, real_phrases);
  append_phrases(out, report, style, [](const Run& run) {
    const std::string phrase = agreement_phrase(run);
    return phrase.empty() ? std::vector<std::string>() : std::vector{phrase};
  });
  for (const Run& run : report.runs) {
    if (!run.finished) say(out, run.name() + " was not replayed to the end.", style);
  }
  if (!style.colour) return out;
  for (std::size_t at = 0; (at = out.find(" warning:", at)) != std::string::npos;) {
    const std::string marked = ' ' + red("warning:", style);
    out.replace(at, 9, marked);
    at += marked.size();
  }
  return out;
}

void say_head(std::string& out, const TraceRuns& report, bool several, const TextStyle& style) {
  const std::string model = model_sentence(report);
  say(out,
      place_name(report, several) + ": " + coverage_phrase(report.trace) +
          (model.empty() ? "" : "; ") + model,
      style);
  say(out, capacity_sentence(report.device), style);
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

// Which rank is worst, and how far the ranks are apart.
std::string spread(const std::vector<TraceRuns>& reports, const TextStyle& style) {
  std::vector<Bytes> peaks;
  for (const TraceRuns& report : reports) {
    if (!report.runs.empty()) peaks.push_back(report.runs.front().metrics.peak_reserved);
  }
  if (reports.size() < 2 || peaks.empty()) return {};
  const TraceRuns& worst = reports[worst_of(reports)];
  const auto [low, high] = std::minmax_element(peaks.begin(), peaks.end());
  std::string out = "\n";
  say(out,
      fmt::format("Worst of {}: {}. Peak reserved lies between {} and {}.",
                  counted(reports.size(), "trace"), place_name(worst, true), human_size(*low),
                  human_size(*high)),
      style);
  return out;
}

std::string replay_text(const std::vector<TraceRuns>& reports, const TextStyle& style) {
  std::string out;
  for (const TraceRuns& report : reports) {
    say_head(out, report, reports.size() > 1, style);
    for (const Run& run : report.runs) {
      const std::string line = wrapped(fmt::format("{}: {}", run.name(), verdict(run)), 1);
      const auto [name, said] =
          std::pair(line.substr(0, run.name().size()), line.substr(run.name().size()));
      out += fmt::format("\n {}{}\n", bold(name, style),
                         run.metrics.first_oom ? red(said, style) : said);
      out += numbers(run);
      const std::string calls = calls_table(run);
      if (!calls.empty()) out += '\n' + calls;
      if (run.picture) out += '\n' + plot(*run.picture, "allocated", style.unicode);
    }
    const std::string measured = measured_table(report);
    if (!measured.empty()) out += '\n' + measured;
    const std::string below = notes(report, style);
    if (!below.empty()) out += '\n' + below;
    if (&report != &reports.back()) out += '\n';
  }
  return out + spread(reports, style);
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

std::string compare_text(const std::vector<TraceRuns>& reports, const TextStyle& style) {
  std::string out;
  for (const TraceRuns& report : reports) {
    say_head(out, report, reports.size() > 1, style);
    std::vector<Run> ranked = report.runs;
    sort_by_place(ranked);
    Table table = run_table(ranked);
    if (!ranked.empty()) {
      table.rows.push_back({"lower bound (requested)",
                            human_size(ranked.front().metrics.peak_requested), "", "", "", "", "",
                            ""});
    }
    out += style.markdown ? markdown_table(table) : '\n' + text_table(table);
    const std::string measured = measured_table(report);
    if (!measured.empty()) out += '\n' + (style.markdown ? "```\n" + measured + "```\n" : measured);
    const std::string below = notes(report, style);
    if (!below.empty()) out += '\n' + below;
    const auto sentences = comparison_sentences(on_first_device(report.runs));
    if (!sentences.empty()) out += '\n';
    for (const std::string& sentence : sentences) say(out, sentence, style);
    if (&report != &reports.back()) out += '\n';
  }
  return out + spread(reports, style);
}

}  // namespace

std::string to_text(const ReplayAnswer& answer, const TextStyle& style) {
  std::string out =
      answer.ranked ? compare_text(answer.traces, style) : replay_text(answer.traces, style);
  const std::string fence = style.markdown ? "```\n" : "";
  if (answer.torch_summary) out += fence + torch_summaries(answer.shown()) + fence;
  if (answer.oom_report) out += fence + oom_reports(answer.shown()) + fence;
  return out;
}

std::string to_markdown(const ReplayAnswer& answer) {
  if (!answer.ranked) return markdown_table(to_table(answer));
  std::string text = to_text(answer, {.colour = false, .unicode = true, .markdown = true});
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace memreplay
