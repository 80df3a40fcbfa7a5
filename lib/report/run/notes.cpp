#include "report/run/notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/recording_advice.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/shared_sentences.hpp"
#include "report/run/real.hpp"

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
  return fmt::format("Stopped at the first OOM, as asked: {}. Figures are those up to there.",
                     fmt::join(names, ", "));
}

}  // namespace

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

}  // namespace memreplay
