#include "report/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string severity_of(const LintAnswer::Issue& issue) {
  return issue.error ? "error" : "warning";
}

Json json_of(const LintAnswer& answer) {
  Json json = Json::object();
  json["variable"] = text_or_null(answer.variable);
  json["conf"] = answer.conf;
  json["valid"] = std::ranges::none_of(answer.issues, &LintAnswer::Issue::error);
  json["issues"] = Json::array();
  for (const LintAnswer::Issue& issue : answer.issues) {
    json["issues"].push_back({{"severity", severity_of(issue)}, {"text", issue.text}});
  }
  return json;
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

std::string to_json(const LintAnswer& answer) {
  Json json = head_json("lint");
  json.update(json_of(answer));
  json["valid"] = answer.valid();
  if (!answer.further.empty()) {
    json["further"] = Json::array();
    for (const LintAnswer& other : answer.further) json["further"].push_back(json_of(other));
  }
  return dump(json);
}

Table to_table(const LintAnswer& answer) {
  Table table{{{"severity", true}, {"text", true}}, {}};
  const auto add = [&](const LintAnswer& one) {
    for (const LintAnswer::Issue& issue : one.issues) {
      table.rows.push_back({severity_of(issue), issue.text});
    }
  };
  add(answer);
  for (const LintAnswer& other : answer.further) add(other);
  return table;
}

}  // namespace memreplay
