#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/check/phrases.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kIndent = 7;
constexpr std::size_t kWidth = 100;

std::size_t widest_word(const EntryCheck& entry) {
  std::size_t widest = 0;
  for (const CheckedValue& value : entry.values) {
    widest = std::max(widest, value.metric->word.size());
  }
  return widest;
}

void append_indented(std::string& out, const std::string& text) {
  out += std::string(kIndent, ' ') + wrapped(text, kIndent) + '\n';
}

std::string value_line(const CheckedValue& value, std::size_t width, const TextStyle& style) {
  std::string line = fmt::format("{:<{}} {}", value.metric->word, width, value_phrase(value));
  const std::string place = place_phrase(value);
  if (!place.empty()) {
    const std::string between = kIndent + line.size() + 3 + place.size() > kWidth
                                    ? '\n' + std::string(kIndent, ' ')
                                    : "   ";
    line += between + place;
  }
  return fmt::format(" {}  {}\n", value.passed() ? "ok  " : red("FAIL", style), line);
}

std::string grown_line(const EntryCheck& entry) {
  constexpr std::size_t kMost = 5;
  if (std::string none = no_growth_phrase(entry); !none.empty()) return none;
  std::string line = "grew since the baseline: ";
  for (std::size_t i = 0; i < std::min(kMost, entry.grown.size()); ++i) {
    if (i > 0) line += ", ";
    line += growth_phrase(entry.grown[i]);
  }
  if (entry.grown.size() > kMost) line += fmt::format(", and {} more", entry.grown.size() - kMost);
  return line;
}

void append_entry(std::string& out, const EntryCheck& entry, const TextStyle& style) {
  const std::size_t width = widest_word(entry);
  for (std::size_t i = 0; i < entry.values.size(); ++i) {
    out += value_line(entry.values[i], width, style);
    const bool last_over =
        !entry.values[i].passed() && (i + 1 == entry.values.size() || entry.values[i + 1].passed());
    if (last_over) append_indented(out, grown_line(entry));
  }
  const std::string doubts = doubt_sentences(entry);
  if (!doubts.empty()) append_indented(out, doubts);
}

std::string change_phrase(const EntryUpdate& update) {
  if (update.changes.empty()) {
    return update.kind == EntryUpdate::Kind::changed ? "the same values" : std::string();
  }
  std::string text;
  for (const EntryUpdate::Change& change : update.changes) {
    if (!text.empty()) text += ", ";
    text += change.metric->word;
    text += ' ';
    if (!change.after) {
      text += "no longer there";
      continue;
    }
    if (change.before) text += shown(*change.metric, *change.before) + " -> ";
    text += shown(*change.metric, *change.after);
  }
  return text;
}

}  // namespace

std::string check_text(const CheckReport& report, const TextStyle& style) {
  std::string out;
  const bool several = report.entries.size() > 1;
  for (const EntryCheck& entry : report.entries) {
    if (several || entry.gpu != 0 || entry.setup != CheckSetup{}) {
      out +=
          ' ' + bold(wrapped(entry_phrase(entry.trace, entry.gpu, entry.setup), 1), style) + '\n';
    }
    append_entry(out, entry, style);
  }
  std::string last;
  if (several || !report.passed()) last = verdict_sentence(report);
  if (!report.interrupted && !report.passed()) {
    last +=
        fmt::format(" If that is intended, repeat with --update and commit {}.", report.baseline);
  }
  if (!report.not_checked.empty()) {
    last += fmt::format("{}Not checked, though in {}: {}.", last.empty() ? "" : " ",
                        report.baseline, fmt::join(report.not_checked, ", "));
  }
  if (!last.empty()) out += "\n " + wrapped(last, 1) + '\n';
  return out;
}

std::string update_text(const UpdateReport& report) {
  constexpr const char* kKinds[] = {"new", "changed", "same"};
  std::string out;
  for (const EntryUpdate& update : report.entries) {
    const EntryCheck& check = update.check;
    out += fmt::format(" {:<8} {}\n", kKinds[static_cast<std::size_t>(update.kind)],
                       entry_phrase(check.trace, check.gpu, check.setup));
    constexpr std::size_t kColumn = 10;
    for (const std::string& text : {change_phrase(update), doubt_sentences(check)}) {
      if (!text.empty()) out += std::string(kColumn, ' ') + wrapped(text, kColumn) + '\n';
    }
  }
  return out;
}

}  // namespace memreplay
