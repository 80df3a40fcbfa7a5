#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "questions/lint/lint_report.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string severity_of(const LintAnswer::Issue& issue) {
  return issue.error ? "error" : "warning";
}

void setting_fields(JsonFields& f, const LintAnswer& answer) {
  f("variable", unless_empty(answer.variable), "the variable that it is for; null: not given");
  f("conf", answer.conf, "the setting that was checked; empty: the defaults");
  f("valid", answer.valid(), "no issue is an error");
  const auto issue = [](JsonFields& issues, const LintAnswer::Issue& of) {
    issues("severity", severity_of(of), "error or warning");
    issues("text", of.text, "a sentence");
  };
  f("issues", each(answer.issues, issue), "what is wrong");
}

}  // namespace

std::string to_text(const LintAnswer& answer, const TextStyle& style) {
  std::string out;
  const auto say = [&](const LintAnswer& one) {
    const bool is_valid = std::ranges::none_of(one.issues, &LintAnswer::Issue::error);
    if (!answer.further.empty() && !one.variable.empty()) out += fmt::format(" {}\n", one.variable);
    if (is_valid && one.sets) {
      out += fmt::format(" valid: {}\n", one.conf.empty() ? std::string("the defaults") : one.conf);
    }
    for (const LintAnswer::Issue& issue : one.issues) {
      out += fmt::format(" {:<8}{}\n", severity_of(issue), wrapped(issue.text, 9, style.width));
    }
  };
  say(answer);
  for (const LintAnswer& other : answer.further) say(other);
  return out;
}

void fields(JsonFields& f, const LintAnswer& answer) {
  head_fields(f, "lint");
  setting_fields(f, answer);
  if (!f.sometimes(!answer.further.empty())) return;
  f("further", each(answer.further, setting_fields), "other settings of the text, in their order");
}

std::string to_json(const LintAnswer& answer) { return dump(JsonFields::of(answer)); }

Table to_table(const LintAnswer& answer) {
  Table table{{left("severity"), left("text")}};
  const auto add = [&](const LintAnswer& one) {
    for (const LintAnswer::Issue& issue : one.issues) table.add(severity_of(issue), issue.text);
  };
  add(answer);
  for (const LintAnswer& other : answer.further) add(other);
  return table;
}

}  // namespace memreplay
