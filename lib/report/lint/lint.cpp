#include "report/lint/lint.hpp"

#include <fmt/format.h>

#include "core/text.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string severity_of(const LintAnswer::Issue& issue) {
  return issue.error ? "error" : "warning";
}

}  // namespace

std::string to_text(const LintAnswer& answer, const TextStyle& style) {
  if (answer.issues.empty()) {
    return answer.conf.empty() ? " valid: the defaults\n"
                               : fmt::format(" valid: {}\n", answer.conf);
  }
  std::string out;
  for (const LintAnswer::Issue& issue : answer.issues) {
    out += fmt::format(" {:<8}{}\n", severity_of(issue), wrapped(issue.text, 9, style.width));
  }
  return out;
}

std::string to_json(const LintAnswer& answer) {
  Json json = head_json("lint");
  json["variable"] = text_or_null(answer.variable);
  json["conf"] = answer.conf;
  json["valid"] = answer.valid();
  json["issues"] = Json::array();
  for (const LintAnswer::Issue& issue : answer.issues) {
    json["issues"].push_back({{"severity", severity_of(issue)}, {"text", issue.text}});
  }
  return dump(json);
}

Table to_table(const LintAnswer& answer) {
  Table table{{{"severity", true}, {"text", true}}, {}};
  for (const LintAnswer::Issue& issue : answer.issues) {
    table.rows.push_back({severity_of(issue), issue.text});
  }
  return table;
}

}  // namespace memreplay
