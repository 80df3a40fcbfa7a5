#include "help/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "help/candidates.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

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

}  // namespace memreplay
