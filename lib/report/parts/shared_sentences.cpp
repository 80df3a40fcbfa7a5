#include "report/parts/shared_sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

using Group = std::vector<const Run*>;

/// Runs with the same key, in the order of the first of each; those without one are left out.
template <typename KeyOf>
std::vector<Group> grouped(const std::vector<Run>& runs, const KeyOf& key_of) {
  std::vector<std::pair<std::string, Group>> groups;
  for (const Run& run : runs) {
    std::string key = run.interrupted() ? std::string() : key_of(run);
    if (key.empty()) continue;
    auto same = std::ranges::find(groups, key, &std::pair<std::string, Group>::first);
    if (same == groups.end()) same = groups.insert(groups.end(), {std::move(key), {}});
    same->second.push_back(&run);
  }
  std::vector<Group> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

// "a, b and c"
std::string names_listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text;
}

// Where nearly all are meant, the others are fewer to name.
std::string rows_named(const Group& meant, const std::vector<Run>& all) {
  constexpr std::size_t kFew = 3;
  std::vector<std::string> names;
  std::vector<std::string> others;
  for (const Run& run : all) {
    const bool among = std::ranges::find(meant, &run) != meant.end();
    (among ? names : others).push_back(run.name());
  }
  if (names.size() <= kFew || others.size() > kFew) return names_listed(names);
  return others.empty() ? "All of them" : "All but " + names_listed(others);
}

std::string oom_warning_of(const Group& group, const std::vector<Run>& all) {
  const Run& first = **std::ranges::min_element(
      group, {}, [](const Run* run) { return run->metrics.first_oom->event; });
  const OomPlace& oom = *first.metrics.first_oom;
  return fmt::format("{} ran out of memory, the earliest at event {} ({}: {}). {}",
                     rows_named(group, all), human_count(oom.event), first.name(), oom_figures(oom),
                     oom_advice(first));
}

}  // namespace

std::vector<std::string> oom_warnings(const std::vector<Run>& runs) {
  std::vector<std::string> warnings;
  for (const Group& group : grouped(runs, oom_advice)) {
    warnings.push_back(group.size() == 1 ? oom_warning(*group.front())
                                         : oom_warning_of(group, runs));
  }
  return warnings;
}

std::vector<std::string> served_sentences(const std::vector<Run>& runs) {
  std::vector<std::string> sentences;
  const auto served = [](const Run& run) {
    const std::uint64_t count = run.metrics.recorded_ooms_served;
    return count == 0 || run.at_least ? std::string() : std::to_string(count);
  };
  for (const Group& group : grouped(runs, served)) {
    const Run& run = *group.front();
    sentences.push_back(group.size() == 1 ? served_sentence(run)
                                          : served_sentence(run, rows_named(group, runs)));
  }
  return sentences;
}

std::vector<std::string> inexact_sentences(const std::vector<Run>& runs) {
  std::vector<std::string> sentences;
  const auto why = [](const Run& run) {
    return run.exact ? std::string() : run.inexact_because + (run.interval ? "…" : ".");
  };
  std::size_t named = 0;
  for (const Group& group : grouped(runs, why)) {
    const Run& run = *group.front();
    named += group.size();
    // "All but" those that are estimates for another reason would say that they are none.
    const bool others = named == runs.size() && named > group.size();
    sentences.push_back(
        group.size() == 1 ? inexact_sentence(run)
                          : inexact_sentence(run, others ? "The others" : rows_named(group, runs)));
  }
  return sentences;
}

std::vector<std::string> phrases_once(
    const std::vector<Run>& runs,
    const std::function<std::vector<std::string>(const Run&)>& phrases_of) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const Run& run : runs) {
    if (run.interrupted()) continue;
    for (const std::string& phrase : phrases_of(run)) {
      auto same = std::ranges::find(all, phrase, [](const auto& other) { return other.first; });
      if (same == all.end()) same = all.insert(all.end(), {phrase, {}});
      if (std::ranges::find(same->second, run.strategy) == same->second.end()) {
        same->second.push_back(run.strategy);
      }
    }
  }
  std::vector<std::string> sentences;
  for (const auto& [phrase, strategies] : all) {
    sentences.push_back(fmt::format("{}: {}.", fmt::join(strategies, ", "), phrase));
  }
  return sentences;
}

}  // namespace memreplay
