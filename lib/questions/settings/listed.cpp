#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.hpp"
#include "core/parallel.hpp"
#include "questions/settings/search.hpp"

namespace memreplay {
namespace {

using KeysAndValues = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kReplaysAtOnce = 32;

const StrategyInfo& with_settings(const StrategySpec& strategy) {
  const StrategyInfo& info = strategy_info(strategy.name);
  if (info.settings_to_try != nullptr) return info;
  std::vector<std::string_view> known = {"torch"};
  for (const StrategyInfo& other : strategies()) {
    if (other.settings_to_try != nullptr) known.push_back(other.name);
  }
  throw UsageError(
      fmt::format("--strategy is '{}', for which there is no list of settings to try; "
                  "expected one of {}, without options of torch",
                  strategy.text, fmt::join(known, ", ")));
}

std::vector<KeysAndValues> listed(const StrategyInfo& info) {
  std::vector<KeysAndValues> settings;
  for (const std::string& text : info.settings_to_try()) {
    settings.push_back(parse_strategy(fmt::format("{}:{}", info.name, text)).options);
  }
  return settings;
}

/// The defaults first; what varies a given or forbidden option is left out.
std::vector<Setting> settings_of(const TuneOptions& options) {
  const auto stays = [&](const auto& option) {
    return find_option(*options.strategy, option.first) || options.forbidden.contains(option.first);
  };
  std::vector<Setting> settings = {{}};
  for (KeysAndValues& varied : listed(strategy_info(options.strategy->name))) {
    if (std::ranges::any_of(varied, stays)) continue;
    settings.emplace_back().of_another = std::move(varied);
  }
  settings.resize(std::min<std::size_t>(settings.size(), options.runs));
  return settings;
}

bool out_of_time(const TuneOptions& options, std::chrono::steady_clock::time_point begun) {
  const std::atomic<bool>* cancelled = options.replaying.stops.cancelled;
  if (cancelled != nullptr && cancelled->load()) return true;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  return options.seconds && spent.count() >= *options.seconds;
}

std::vector<Experiment> try_each(const TuneOptions& options, const TuneResult& result,
                                 std::span<const Setting> settings) {
  std::vector<Experiment> tried(settings.size());
  for_each_parallel(settings.size(), options.threads, [&](std::size_t i) {
    tried[i] = try_on(options.bench, under_release(spec_of(result, settings[i]), options.release),
                      options.replaying, {});
    tried[i].outcome.settings = {settings[i]};
  });
  return tried;
}

void keep(Experiment tried, TuneResult& result) {
  result.finished &= !tried.cancelled;
  if (tried.cancelled) return;
  ++result.tried;
  ++result.replayed;
  const Setting setting = tried.outcome.settings.front();
  const std::size_t outcomes = result.outcomes.size();
  const std::size_t number = add_outcome(std::move(tried.outcome), result);
  if (number < outcomes) result.outcomes[number].settings.push_back(setting);
}

void add_baseline(const TuneOptions& options, TuneResult& result) {
  const auto came_to = [&](const ReplayOptions& replaying) {
    TuneOutcome outcome =
        try_on(options.bench, under_release(*options.strategy, options.release), replaying, {})
            .outcome;
    outcome.settings = {Setting{}};
    return outcome;
  };
  result.baseline_outcome = came_to(options.replaying);
  if (options.replaying.program.insert_empty_cache.empty()) return;
  ReplayOptions as_it_was = options.replaying;
  as_it_was.program.insert_empty_cache.clear();
  result.without_insertions = came_to(as_it_was);
}

}  // namespace

TuneResult tune_listed(const TuneOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const StrategySpec& strategy = *options.strategy;
  TuneResult result{.strategy = strategy.name, .baseline = strategy.text};
  if (!strategy.options.empty()) result.kept = strategy.text.substr(strategy.name.size() + 1);
  result.baseline_conf = result.kept;
  add_baseline(options, result);
  const bool was_full = result.baseline_outcome.total().oom_retries > 0;
  result.objective =
      options.objective.value_or(was_full ? Objective::full_device : Objective::reserved);
  const std::vector<Setting> settings = settings_of(options);
  for (std::size_t i = 0; i < settings.size() && result.finished; i += kReplaysAtOnce) {
    const std::size_t count = std::min(kReplaysAtOnce, settings.size() - i);
    for (Experiment& tried : try_each(options, result, std::span(settings).subspan(i, count))) {
      keep(std::move(tried), result);
    }
    result.finished &= i + count == settings.size() || !out_of_time(options, begun);
    if (options.progress) {
      options.progress(static_cast<double>(i + count) / static_cast<double>(settings.size()));
    }
  }
  if (!result.outcomes.empty()) conclude(options, result);
  return result;
}

std::string line_as_set(const TuneResult& result) {
  return strategy_info(result.strategy)
      .as_set(spec_of(result, result.outcomes[result.best].settings.front()));
}

std::vector<std::string> options_to_vary(const std::optional<StrategySpec>& strategy) {
  if (!strategy) return {varied_options().begin(), varied_options().end()};
  std::vector<std::string> keys;
  for (const KeysAndValues& setting : listed(with_settings(*strategy))) {
    for (const auto& [key, value] : setting) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

}  // namespace memreplay
