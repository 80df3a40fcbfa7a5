#include "report/parts/shared_sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// "would have fitted, with 46.8 MiB to spare"
std::string would_have_fitted(const Refusal& r) {
  return fmt::format("would have fitted, with {} to spare",
                     human_size(r.allowance - r.live - r.requested));
}

std::string outside(const Refusal& r) {
  return fmt::format(
      "Outside: the {} request would have fitted if others did not hold {} of the device.",
      human_size(r.requested), human_size(r.total.value_or(r.room) - r.room));
}

std::string limited(const Refusal& r) {
  if (r.allowance == 0) {
    return fmt::format(
        "Limit: a rule of the allocator itself refused the {} request; the device had {} free.",
        human_size(r.requested), human_size(r.device_free));
  }
  return fmt::format(
      "Limit: the allocator's own limit or arena of {} refused the {} request; the device had {} "
      "free.",
      human_size(r.allowance), human_size(r.requested), human_size(r.device_free));
}

std::string in_effect(const Refusal& r, const RequestInRoom& too_much) {
  return fmt::format("Shortage in effect: the {} request at event {} {}, but {}; no setting helps.",
                     human_size(r.requested), human_count(*r.event), would_have_fitted(r),
                     too_much_phrase(too_much));
}

std::string fragmented(const Refusal& r) {
  return fmt::format("Fragmentation: the {} request {}.", human_size(r.requested),
                     would_have_fitted(r));
}

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

bool runs_out(const Run& run) { return run.metrics.first_oom.has_value(); }

// Where nearly all are meant, the others are fewer to name, unless `also` holds of one of them.
std::string rows_named(const Group& meant, const std::vector<Run>& all,
                       bool (*also)(const Run&) = nullptr) {
  constexpr std::size_t kFew = 3;
  std::vector<std::string> names;
  std::vector<std::string> others;
  bool holds_of_others = false;
  for (const Run& run : all) {
    const bool among = std::ranges::find(meant, &run) != meant.end();
    (among ? names : others).push_back(run.name());
    holds_of_others |= !among && also != nullptr && also(run);
  }
  if (names.size() <= kFew || others.size() > kFew || holds_of_others) return names_listed(names);
  return others.empty() ? "All of them" : "All but " + names_listed(others);
}

std::string oom_warning_of(const Group& group, const std::vector<Run>& all) {
  const Run& first = **std::ranges::min_element(
      group, {}, [](const Run* run) { return run->metrics.first_oom->event; });
  const OomPlace& oom = *first.metrics.first_oom;
  return fmt::format("{} ran out of memory, the earliest at event {} ({}: {}). {}",
                     rows_named(group, all, runs_out), human_count(oom.event), first.name(),
                     oom_figures(oom), oom_advice(first));
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

std::string refusal_sentence(const JudgedRefusal& judged) {
  const Refusal& refusal = judged.refusal;
  const Cause cause = judged.verdict.cause;
  if (judged.too_much) return in_effect(refusal, *judged.too_much);
  if (cause == Cause::outside) return outside(refusal);
  if (cause == Cause::limit) return limited(refusal);
  if (cause != Cause::shortage) return fragmented(refusal);
  const Bytes wanted = refusal.live + refusal.requested;
  return fmt::format(
      "Shortage: live memory and the {} request together exceed the device by {}; no allocator "
      "setting will help.",
      human_size(refusal.requested), human_size(wanted - std::min(wanted, refusal.room)));
}

std::string start_refused_sentence(const OomVerdict& verdict, const std::string& strategy) {
  const std::string_view cause = verdict.cause == Cause::limit      ? "Limit"
                                 : verdict.cause == Cause::outside  ? "Outside"
                                 : verdict.cause != Cause::shortage ? "Fragmentation"
                                 : verdict.in_effect                ? "Shortage in effect"
                                                                    : "Shortage";
  return fmt::format("{}: not all memory from before the recording fits{}{}.", cause,
                     strategy.empty() ? "" : " under ", strategy);
}

std::string state_sentence(const std::optional<StateBeyondDevice>& state) {
  if (!state) return {};
  return fmt::format(
      "Shortage: the state itself needs {}: {} from before the recording, {} more than the device "
      "has.",
      human_size(state->needed), counted(state->blocks, "block"),
      human_size(state->needed - state->room));
}

std::string too_much_phrase(const RequestInRoom& request) {
  return fmt::format("at event {}, {} are live and {} more are requested, but the device has {}",
                     human_count(request.event), human_size(request.live),
                     human_size(request.requested), human_size(request.room));
}

}  // namespace memreplay
