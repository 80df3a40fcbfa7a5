#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/check/phrases.hpp"
#include "report/parts/recording_advice.hpp"

namespace memreplay {
namespace {

std::string number_or_nothing(const std::optional<std::uint64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

// Text that stands for itself, whatever is in it.
std::string code(std::string text) {
  std::ranges::replace(text, '`', '\'');
  return '`' + text + '`';
}

void append_rows(Table& table, const CheckAnswer& answer, bool passed) {
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      if (entry.passes(value) != passed) continue;
      const std::string place = place_phrase(value);
      table.rows.push_back({code(entry_phrase(entry)), std::string(value.metric->word),
                            shown(*value.metric, value.baseline),
                            bounded(shown(*value.metric, value.value), entry.early_end.has_value()),
                            shown(*value.metric, value.limit), change_in_percent(value),
                            passed           ? "ok"
                            : value.passed() ? "**unknown**"
                                             : "**over**" + (place.empty() ? "" : ", " + place)});
    }
  }
}

}  // namespace

Table to_table(const CheckAnswer& answer) {
  Table table{{{"trace", true},
               {"gpu"},
               {"strategy", true},
               {"metric", true},
               {"baseline"},
               {"tolerance"},
               {"limit"},
               {"value"},
               {"passed"},
               {"first_event_over"},
               {"step_over"}},
              {}};
  for (const EntryCheck& entry : answer.entries) {
    for (const CheckedValue& value : entry.values) {
      table.rows.push_back({entry.trace, std::to_string(entry.gpu), entry.setup.strategy,
                            std::string(value.metric->name), std::to_string(value.baseline),
                            value.tolerance.text, std::to_string(value.limit),
                            std::to_string(value.value), entry.passes(value) ? "true" : "false",
                            number_or_nothing(value.first_event_over),
                            number_or_nothing(value.step)});
    }
  }
  return table;
}

std::string to_markdown(const CheckAnswer& answer) {
  Table table{{{"trace", true},
               {"metric", true},
               {"baseline"},
               {"value"},
               {"limit"},
               {"change"},
               {"result", true}},
              {}};
  append_rows(table, answer, false);
  append_rows(table, answer, true);
  std::string out =
      fmt::format("**memreplay check**: {}\n\n", verdict_sentence(answer)) + markdown_table(table);
  std::string below;
  for (const EntryCheck& entry : answer.entries) {
    const std::string trace = code(entry_phrase(entry));
    if (!entry.passed()) {
      const std::string none = no_growth_phrase(entry);
      if (!none.empty()) below += fmt::format("- {}: {}\n", trace, none);
      for (const PlaceGrowth& growth : entry.grown) {
        below += fmt::format("- {}: {} grew by {}{}\n", trace, code(growth.place),
                             human_size(growth.grown), growth.before ? "" : " at most");
      }
    }
    const std::string doubts = doubt_sentences(entry);
    if (!doubts.empty()) below += fmt::format("- {}: {}\n", trace, doubts);
  }
  for (const NotChecked& file : answer.failed) {
    below += fmt::format("- {} could not be checked: {}\n", code(file.path), code(file.message));
  }
  for (const BaselineEntry& entry : answer.not_checked) {
    below +=
        fmt::format("- {} is in the baseline and was not checked.\n", code(entry_phrase(entry)));
  }
  return below.empty() ? out : out + '\n' + below;
}

Table to_table(const UpdateAnswer& answer) {
  Table table{
      {{"trace", true}, {"gpu"}, {"strategy", true}, {"metric", true}, {"before"}, {"after"}}, {}};
  for (const EntryUpdate& update : answer.entries) {
    for (const EntryUpdate::Change& change : update.changes) {
      table.rows.push_back({update.check.trace, std::to_string(update.check.gpu),
                            update.check.setup.strategy, std::string(change.metric->name),
                            number_or_nothing(change.before), number_or_nothing(change.after)});
    }
  }
  return table;
}

}  // namespace memreplay
