#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "questions/check/phrases.hpp"
#include "report/parts/escapes.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

void append_rows(Table& table, const CheckAnswer& answer, bool passed) {
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      if (entry.passes(value) != passed) continue;
      const std::string place = place_phrase(value);
      table.add(markdown_code(entry_phrase(entry)), value.metric->word, baseline_phrase(value),
                bounded(shown(*value.metric, value.value), !entry.facts.whole()),
                shown(*value.metric, value.limit), change_in_percent(value),
                passed           ? "ok"
                : value.passed() ? "**unknown**"
                                 : "**over**" + (place.empty() ? "" : ", " + place));
    }
  }
}

constexpr std::size_t kIndent = 7;

std::size_t widest_word(const EntryCheck& entry) {
  std::size_t widest = 0;
  for (const CheckedValue& value : entry.values) {
    widest = std::max(widest, value.metric->word.size());
  }
  return widest;
}

std::string value_line(const EntryCheck& entry, const CheckedValue& value, std::size_t width,
                       const TextStyle& style) {
  std::string line = fmt::format("{:<{}} {}", value.metric->word, width,
                                 bounded(value_phrase(value), !entry.facts.whole()));
  const std::string place = place_phrase(value);
  if (!place.empty()) {
    const std::string between = kIndent + line.size() + 3 + place.size() > style.width
                                    ? '\n' + std::string(kIndent, ' ')
                                    : "   ";
    line += between + place;
  }
  return fmt::format(" {}  {}\n", entry.passes(value) ? "ok  " : red("FAIL", style), line);
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

// What is within its limits, in one line.
void append_passed(Sheet& out, const EntryCheck& entry) {
  std::string line = entry_phrase(entry);
  const char* between = ": ";
  for (const CheckedValue& value : entry.values) {
    line += fmt::format("{}{} {}", between, value.metric->word, value_phrase(value));
    between = ", ";
  }
  Sheet wrapped(out.style());
  append_paragraph(wrapped, line, kIndent);
  out += " ok    ";
  out += std::string_view(wrapped.text()).substr(kIndent);
  append_paragraph(out, doubt_sentences(entry), kIndent);
}

void append_failed(Sheet& out, const EntryCheck& entry) {
  const std::size_t width = widest_word(entry);
  for (std::size_t i = 0; i < entry.values.size(); ++i) {
    out += value_line(entry, entry.values[i], width, out.style());
    const bool last_over =
        !entry.values[i].passed() && (i + 1 == entry.values.size() || entry.values[i + 1].passed());
    if (last_over) append_paragraph(out, grown_line(entry), kIndent);
  }
  const std::string doubts = doubt_sentences(entry);
  if (!doubts.empty()) append_paragraph(out, doubts, kIndent);
}

// A budget stays where it is.
bool update_helps(const CheckAnswer& answer) {
  return std::ranges::any_of(answer.entries, [](const EntryCheck& entry) {
    return std::ranges::any_of(entry.values, [](const CheckedValue& value) {
      return !value.passed() && !value.of_budget;
    });
  });
}

std::string change_phrase(const EntryUpdate& update) {
  if (update.changes.empty()) {
    return update.kind == EntryUpdate::Kind::changed
               ? "same values, other terms (tolerance, start, device, path or version)"
               : std::string();
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

std::string to_text(const CheckAnswer& answer, const TextStyle& style) {
  Sheet out(style);
  const bool several = answer.entries.size() > 1;
  for (const EntryCheck& entry : answer.entries) {
    if (entry.passed()) continue;
    if (several || entry.gpu != 0 || entry.setup != CheckSetup{}) {
      out += ' ' + bold(wrapped(entry_phrase(entry), 1, style.width), style) + '\n';
    }
    append_failed(out, entry);
  }
  for (const EntryCheck& entry : answer.entries) {
    if (entry.passed()) append_passed(out, entry);
  }
  std::string last;
  if (several || !answer.passed()) last = verdict_sentence(answer);
  if (!answer.interrupted && update_helps(answer)) {
    last +=
        fmt::format(" If that is intended, repeat with --update and commit {}.", answer.baseline);
  }
  if (!answer.not_checked.empty()) {
    std::vector<std::string> names;
    for (const BaselineEntry& entry : answer.not_checked) names.push_back(entry_phrase(entry));
    last += fmt::format("{}Not checked, though in {}: {}.", last.empty() ? "" : " ",
                        answer.baseline, fmt::join(names, ", "));
  }
  if (!last.empty()) out += '\n';
  append_paragraph(out, last);
  return out.text();
}

std::string to_text(const UpdateAnswer& answer, const TextStyle& style) {
  constexpr const char* kKinds[] = {"new", "changed", "same"};
  Sheet out(style);
  for (const EntryUpdate& update : answer.entries) {
    const EntryCheck& check = update.check;
    out += fmt::format(" {:<8} {}\n", kKinds[static_cast<std::size_t>(update.kind)],
                       entry_phrase(check));
    constexpr std::size_t kColumn = 10;
    for (const std::string& text : {change_phrase(update), doubt_sentences(check)}) {
      append_paragraph(out, text, kColumn);
    }
  }
  return out.text();
}

Table to_table(const CheckAnswer& answer) {
  Table table{{left("trace"), "gpu", left("strategy"), left("metric"), "baseline", "tolerance",
               "limit", "value", "passed", "first_event_over", "step_over"}};
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      table.add(entry.trace, entry.gpu, entry.setup.strategy, value.metric->name, value.baseline,
                value.tolerance.text, value.limit, value.value, entry.passes(value),
                value.first_event_over, value.step);
    }
  }
  return table;
}

std::string to_markdown(const CheckAnswer& answer) {
  Table table{
      {left("trace"), left("metric"), "baseline", "value", "limit", "change", left("result")}};
  append_rows(table, answer, false);
  append_rows(table, answer, true);
  std::string out = fmt::format("**memreplay check**: {}\n\n", verdict_sentence(answer)) +
                    table_of_markdown(table);
  std::string below;
  for (const EntryCheck& entry : answer.entries) {
    const std::string trace = markdown_code(entry_phrase(entry));
    if (!entry.passed()) {
      const std::string none = no_growth_phrase(entry);
      if (!none.empty()) below += fmt::format("- {}: {}\n", trace, markdown_words(none));
      for (const PlaceGrowth& growth : entry.grown) {
        below += fmt::format("- {}: {} grew by {}{}\n", trace, markdown_code(growth.place),
                             human_size(growth.grown), growth.before ? "" : " at most");
      }
    }
    const std::string doubts = doubt_sentences(entry);
    if (!doubts.empty()) below += fmt::format("- {}: {}\n", trace, markdown_words(doubts));
  }
  for (const NotChecked& file : answer.failed) {
    below += fmt::format("- {} could not be checked: {}\n", markdown_code(file.path),
                         markdown_code(file.message));
  }
  for (const BaselineEntry& entry : answer.not_checked) {
    below += fmt::format("- {} is in the baseline and was not checked.\n",
                         markdown_code(entry_phrase(entry)));
  }
  return below.empty() ? out : out + '\n' + below;
}

Table to_table(const UpdateAnswer& answer) {
  Table table{{left("trace"), "gpu", left("strategy"), left("metric"), "before", "after"}};
  for (const EntryUpdate& update : answer.entries) {
    for (const EntryUpdate::Change& change : update.changes) {
      table.add(update.check.trace, update.check.gpu, update.check.setup.strategy,
                change.metric->name, change.before, change.after);
    }
  }
  return table;
}

}  // namespace memreplay
