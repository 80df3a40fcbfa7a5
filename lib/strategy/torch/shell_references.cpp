#include "strategy/torch/shell_references.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "strategy/torch/assigned_value.hpp"

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

std::size_t end_of_name(std::string_view text, std::size_t at) {
  while (at < text.size() && is_of_name(text[at])) ++at;
  return at;
}

/// The brace that closes the one before `at`.
std::size_t closing_brace(std::string_view text, std::size_t at) {
  for (int depth = 1; at < text.size() && text[at] != '\n'; ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0) return at;
  }
  return text.npos;
}

std::string_view unquoted(std::string_view text) {
  const bool is_quoted = text.size() > 1 && text.front() == text.back() &&
                         (text.front() == '"' || text.front() == '\'');
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

std::string reference(std::string_view name) { return fmt::format("{0}{1}{0}", kReference, name); }

/// "NAME:-TEXT" between braces, and whether it is the value of an assignment.
std::string expansion(std::string_view inside, bool is_assigned) {
  const std::size_t end = end_of_name(inside, 0);
  const std::string_view name = inside.substr(0, end);
  std::string_view action = inside.substr(end);
  if (action.starts_with(':')) action.remove_prefix(1);
  if (action.starts_with('+')) return reference(name) + ",";
  if (!action.starts_with('-') && !action.starts_with('=')) return reference(name);
  const std::string_view text = unquoted(action.substr(1));
  if (text.empty()) return reference(name);
  if (text.find('$') != text.npos) return reference(name);
  return fmt::format("{}{}{}{}", is_assigned ? "" : name, is_assigned ? "" : "=", kDefault, text);
}

/// Whether what stands here is the value of an assignment on its line.
bool is_assigned(std::string_view before) {
  const std::size_t last = before.find_last_not_of("\"'");
  return last != before.npos && std::string_view("=:,}\x02 ").find(before[last]) != before.npos &&
         before.substr(before.rfind('\n') + 1).find('=') != before.npos;
}

/// How many characters of the text are a reference; `marked` gets what stands for it.
std::size_t take_reference(std::string_view text, std::size_t at, std::string& marked) {
  if (text[at] == '%') {
    const std::size_t end = end_of_name(text, at + 1);
    if (end == at + 1 || end == text.size() || text[end] != '%') return 0;
    marked += reference(text.substr(at + 1, end - at - 1));
    return end + 1 - at;
  }
  if (text[at] != '$' || at + 1 == text.size()) return 0;
  if (text[at + 1] == '{') {
    const std::size_t end = closing_brace(text, at + 2);
    if (end == text.npos || end_of_name(text, at + 2) == at + 2) return 0;
    marked += expansion(text.substr(at + 2, end - at - 2), is_assigned(text.substr(0, at)));
    return end + 1 - at;
  }
  const std::size_t end = end_of_name(text, at + 1);
  const bool is_of_powershell = end < text.size() && text[end] == ':' &&
                                in_capitals(text.substr(at + 1, end - at - 1)) == "ENV";
  if (end == at + 1 || is_of_powershell) return 0;
  marked += reference(text.substr(at + 1, end - at - 1));
  return end - at;
}

}  // namespace

std::string with_references_marked(std::string_view text) {
  std::string marked;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t taken = take_reference(text, at, marked);
    if (taken == 0) marked += text[at];
    at += std::max<std::size_t>(taken, 1);
  }
  return marked;
}

void settle_references(Assignment& read) {
  if (std::erase(read.conf, kDefault) > 0) {
    read.notes.push_back(
        {Severity::warning,
         "this is the default, used only if the variable is not set; a set one takes precedence"});
  }
  if (read.conf.find(kReference) == read.conf.npos) return;
  std::string literal, left_out;
  for (std::size_t at = 0; at <= read.conf.size();) {
    const std::size_t end = std::min(read.conf.find(',', at), read.conf.size());
    const std::string option = read.conf.substr(at, end - at);
    std::string& to = option.find(kReference) == option.npos ? literal : left_out;
    if (!to.empty() && !option.empty()) to += ',';
    to += option;
    at = end + 1;
  }
  read.conf = literal;
  std::erase(left_out, kReference);
  read.sets = !literal.empty();
  read.notes.push_back(
      {Severity::warning,
       read.sets
           ? fmt::format("what {} adds is not in the text and is not checked", left_out)
           : fmt::format("the value is that of {}, which is not in the text: nothing to check",
                         left_out)});
}

}  // namespace memreplay::torch
