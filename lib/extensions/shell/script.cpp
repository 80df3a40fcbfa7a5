#include "extensions/shell/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "line/commands.hpp"
#include "metrics/metrics.hpp"
#include "questions/fit/answer.hpp"
#include "questions/settings/setting.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"
#include "trace/workloads.hpp"

namespace memreplay {
namespace {

using Words = std::vector<std::string>;

template <typename Rows>
Words names_in(const Rows& rows) {
  Words names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

struct Placeholder {
  std::string_view name;
  Words (*words)();
};

constexpr Placeholder kPlaceholders[] = {
    {"FORMAT", [] { return names_in(readers()); }},
    {"CARD", [] { return names_in(cards()); }},
    {"KIND", [] { return names_in(workloads()); }},
    {"COMMAND", [] { return names_in(commands()); }},
    {"METRIC",
     [] {
       Words names;
       for (const CheckedMetric& metric : checked_metrics()) names.emplace_back(metric.name);
       return names;
     }},
    {"OPTION", [] { return Words(varied_options().begin(), varied_options().end()); }}};

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool within_word(char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

/// "auto", "first-fit", "True"; not "N", "Ns", "empty_cache@WHERE".
bool is_word(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text.substr(1), within_word)) return false;
  return is_lower(text.front()) || (text.size() > 2 && is_lower(text[1]));
}

Words names_meant_by(std::string_view placeholder) {
  for (const Placeholder& known : kPlaceholders) {
    if (known.name == placeholder) return known.words();
  }
  return {};
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string spaced(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::vector<OptionDescription> all_options(const CommandDescription& description) {
  std::vector<OptionDescription> all;
  for (const OptionGroup& group : description.groups) {
    all.insert(all.end(), group.options.begin(), group.options.end());
  }
  for (OptionDescription& option : help_options()) all.push_back(std::move(option));
  return all;
}

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const StrategyInfo& strategy : strategies()) names.emplace_back(strategy.name);
  return names;
}

std::vector<std::string> StrategyKeys::names() const {
  std::vector<std::string> all;
  for (const Key& key : keys) all.push_back(key.name);
  return all;
}

std::vector<StrategyKeys> strategy_keys() {
  std::vector<StrategyKeys> all;
  for (const StrategyInfo& strategy : strategies()) {
    if (strategy.options.empty()) continue;
    StrategyKeys& one = all.emplace_back(StrategyKeys{std::string(strategy.name), {}});
    for (const OptionInfo& option : strategy.options) {
      one.keys.push_back({std::string(option.key), candidates(option.values).words});
    }
  }
  return all;
}

std::string filled(std::string_view text, const std::vector<Insert>& inserts) {
  std::string out(text);
  for (const Insert& insert : inserts) {
    const std::string mark = fmt::format("@{}@", insert.name);
    for (std::size_t at = out.find(mark); at != std::string::npos;
         at = out.find(mark, at + insert.text.size())) {
      out.replace(at, mark.size(), insert.text);
    }
  }
  return out;
}

Candidates candidates(std::string_view values) {
  if (values == "S") return {Candidates::Kind::strategy};
  if (values == "[=F]" || values == "F" || values == "F.html") return {Candidates::Kind::file};
  Words words;
  while (!values.empty()) {
    const std::size_t end = std::min(values.find('|'), values.size());
    std::string_view one = values.substr(0, end);
    values.remove_prefix(std::min(end + 1, values.size()));
    // "cuda[:N]", "CARD,...", "TRACE...", "METRIC=SIZE"
    const std::size_t word_end = std::min(one.find_first_of("[,.="), one.size());
    const std::string_view behind = one.substr(word_end).starts_with('=') ? "=" : "";
    one = one.substr(0, word_end);
    if (is_word(one)) words.emplace_back(one);
    for (const std::string& name : names_meant_by(one))
      words.push_back(fmt::format("{}{}", name, behind));
  }
  if (words.empty()) return {};
  return {Candidates::Kind::words, std::move(words)};
}

Candidates first_argument(std::string_view arguments) {
  if (arguments.starts_with('-')) return {};
  if (arguments.starts_with('[')) arguments.remove_prefix(1);
  std::string_view first = arguments.substr(0, arguments.find_first_of(" ]"));
  Candidates found = candidates(first);
  if (found.kind == Candidates::Kind::text) found.kind = Candidates::Kind::file;
  return found;
}

}  // namespace memreplay
