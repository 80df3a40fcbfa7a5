#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/facts.hpp"
#include "report/parts/table.hpp"
#include "report/parts/text_style.hpp"

namespace memreplay {

/// Memory by stacks, of one device of those that are asked about.
struct NamedProfile {
  std::string name;  ///< empty: there is no other
  const StackProfile& profile;
};

/// What formats are made from, each part computed when it is asked for.
struct ReportParts {
  std::function<std::string(const TextStyle&)> text;
  std::function<std::string()> json;
  std::function<Table()> table;                       ///< empty: the answer has none
  std::function<std::vector<NamedProfile>()> stacks;  ///< likewise
  std::function<std::string()> markdown;  ///< where it says more than the table; empty: it does not
};

/// The parts of an answer, by what its folder offers: `to_text` and `to_json`,
/// `to_table` where there is one, `to_markdown` where it says more. `answer` outlives them.
template <typename Answer>
ReportParts parts_of(const Answer& answer) {
  ReportParts parts;
  parts.text = [&answer](const TextStyle& style) { return to_text(answer, style); };
  parts.json = [&answer] { return to_json(answer); };
  if constexpr (requires { to_table(answer); }) {
    parts.table = [&answer] { return to_table(answer); };
  }
  if constexpr (requires { to_stacks(answer); }) {
    parts.stacks = [&answer] { return to_stacks(answer); };
  }
  if constexpr (requires { to_markdown(answer); }) {
    parts.markdown = [&answer] { return to_markdown(answer); };
  }
  return parts;
}

/// How a report is written beside its text on the terminal (formats.def).
struct ReportFormat {
  std::string_view option;    ///< "--json"
  std::string_view sentence;  ///< shown in the help
  /// Only for answers that have it.
  enum class Needs { nothing, table, stacks } needs = Needs::table;
  bool for_people = false;  ///< a text, not data
  std::string (*write)(const ReportParts&) = nullptr;
};

/// Every registered format, in the order of formats.def.
std::span<const ReportFormat> report_formats();

/// For an issue or a pull request: what a text without colours says up to its first empty line,
/// then the table.
std::string answer_and_table(const std::string& text, const Table& table);

}  // namespace memreplay
