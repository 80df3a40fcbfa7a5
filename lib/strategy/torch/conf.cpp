#include "strategy/torch/conf.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;
using Tokens = std::vector<std::string>;

constexpr std::string_view kMarks = ",:[]";

bool is_mark(const std::string& token) { return kMarks.find(token) != kMarks.npos; }

// Marks stand alone, everything between them is one token. Up to 2.9 only blanks are dropped.
Tokens tokens_of(std::string_view text, const Release& release) {
  const std::string_view dropped = release.has(kNewParser) ? " \t\n\v\f\r" : " ";
  Tokens tokens;
  bool word = false;
  for (const char c : text) {
    if (dropped.find(c) != dropped.npos) continue;
    const bool mark = kMarks.find(c) != kMarks.npos;
    if (mark || !word) tokens.emplace_back();
    tokens.back() += c;
    word = !mark;
  }
  return tokens;
}

// Since 2.10 whatever stands between key, value and key passes for the separator.
bool check_separator(const Tokens& tokens, std::size_t at, std::string_view wanted,
                     const Release& release, SettingIssues& issues) {
  if (tokens[at] == wanted) return true;
  if (release.has(kNewParser)) {
    issues.push_back(
        {Severity::warning,
         fmt::format(
             "'{}' after '{}' instead of '{}': PyTorch accepts it since 2.10 and refuses it before",
             tokens[at], tokens[at - 1], wanted)});
    return true;
  }
  issues.push_back({Severity::error, fmt::format("'{}' after '{}'; expected '{}'", tokens[at],
                                                 tokens[at - 1], wanted)});
  return false;
}

}  // namespace

const SettingIssue* first_error(const SettingIssues& issues) {
  const auto error = std::ranges::find(issues, Severity::error, &SettingIssue::severity);
  return error == issues.end() ? nullptr : &*error;
}

std::vector<ConfEntry> split_conf(std::string_view conf, const Release& release,
                                  SettingIssues& issues) {
  const Tokens tokens = tokens_of(conf, release);
  std::vector<ConfEntry> entries;
  std::size_t at = 0;
  while (at < tokens.size()) {
    if (is_mark(tokens[at])) {
      issues.push_back({Severity::error, fmt::format("'{}' where an option should begin; expected "
                                                     "key:value",
                                                     tokens[at])});
      break;
    }
    ConfEntry& entry = entries.emplace_back(ConfEntry{tokens[at++], ""});
    if (at < tokens.size() && !check_separator(tokens, at++, ":", release, issues)) break;
    if (at < tokens.size() && tokens[at] == "[") {
      const auto close = std::find(tokens.begin() + static_cast<std::ptrdiff_t>(at), tokens.end(),
                                   std::string("]"));
      const auto end = static_cast<std::size_t>(close - tokens.begin());
      for (; at < std::min(end + 1, tokens.size()); ++at) entry.value += tokens[at];
    } else if (at < tokens.size()) {
      entry.value = tokens[at++];
    }
    if (at < tokens.size() && !check_separator(tokens, at++, ",", release, issues)) break;
  }
  return entries;
}

std::optional<std::vector<std::pair<std::string, std::string>>> split_list(const ConfEntry& entry,
                                                                           const Release& release,
                                                                           SettingIssues& issues) {
  const auto refuse = [&](std::string_view why) {
    issues.push_back({Severity::error, fmt::format("{} is '{}'; {}", entry.key, entry.value, why)});
    return std::nullopt;
  };
  const Tokens tokens = tokens_of(entry.value, release);
  if (tokens.size() < 2 || tokens.front() != "[") return refuse("expected a list [A:1,B:2]");
  if (tokens.back() != "]") return refuse("its bracket is not closed");
  std::vector<std::pair<std::string, std::string>> pairs;
  const std::size_t end = tokens.size() - 1;
  for (std::size_t at = 1; at < end; ++at) {
    if (at + 2 >= end) return refuse(fmt::format("'{}' in it has no value", tokens[at]));
    if (!check_separator(tokens, at + 1, ":", release, issues)) return std::nullopt;
    pairs.emplace_back(tokens[at], tokens[at + 2]);
    at += 3;
    if (at < end && !check_separator(tokens, at, ",", release, issues)) return std::nullopt;
  }
  return pairs;
}

}  // namespace memreplay::torch
