#include "questions/check/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "program/recorded_device.hpp"
#include "run/inputs.hpp"

namespace memreplay {
namespace {

constexpr const char* kStandardInput = "-";

std::filesystem::path whole_path(const std::filesystem::path& given) {
  return (std::filesystem::current_path() / given).lexically_normal();
}

std::filesystem::path folder_of(const std::string& baseline) {
  return whole_path(baseline).parent_path();
}

std::vector<const BaselineEntry*> entries_of(const Baseline& baseline, const std::string& path,
                                             const Chosen& chosen) {
  std::vector<const BaselineEntry*> entries;
  for (const BaselineEntry& entry : baseline.entries) {
    if (is_kept_path(entry.trace, chosen.recording->path, path) && entry.gpu == chosen.trace->gpu) {
      entries.push_back(&entry);
    }
  }
  return entries;
}

const BaselineEntry* under(const std::vector<const BaselineEntry*>& entries,
                           const std::string& strategy) {
  const auto found =
      std::ranges::find(entries, strategy, [](const auto* entry) { return entry->setup.strategy; });
  return found == entries.end() ? nullptr : *found;
}

// Less is better: with nothing at all, everything would be within its limit.
void refuse_empty(const Chosen& chosen) {
  if (std::ranges::any_of(chosen.trace->ops, is_request)) return;
  throw InputError(chosen.recording->path, "",
                   "has no allocation in its history; nothing to check");
}

[[noreturn]] void refuse_missing(const Chosen& chosen, const CheckQuestion& question,
                                 const std::string& strategy) {
  throw InputError(
      question.baseline, "",
      fmt::format("has no entry for {} gpu {}{}; --update adds one", chosen.recording->path,
                  chosen.trace->gpu, strategy.empty() ? "" : " under " + strategy));
}

// For a metric of every entry that has it; one must.
void set_tolerance(std::vector<CheckPlan>& plans, const CheckQuestion& question,
                   const CheckedMetric& metric, const Tolerance& tolerance) {
  bool known = plans.empty();
  for (CheckPlan& plan : plans) {
    for (BaselineEntry& entry : plan.entries) {
      const auto found = entry.metrics.find(metric.name);
      if (found == entry.metrics.end()) continue;
      known = true;
      found->second.tolerance = tolerance;
    }
  }
  if (known) return;
  throw InputError(
      question.baseline, "",
      fmt::format("has no {} of these traces; --update --metric NAME adds it", metric.name));
}

// What the question says counts for this once.
void apply_limits(std::vector<CheckPlan>& plans, const CheckQuestion& question) {
  for (const auto& [metric, tolerance] : question.metrics) {
    set_tolerance(plans, question, *metric, *tolerance);
  }
  for (const auto& [metric, most] : question.budgets) {
    for (CheckPlan& plan : plans) {
      for (BaselineEntry& entry : plan.entries) {
        const auto [kept, is_new] = entry.metrics.try_emplace(std::string(metric->name));
        if (is_new) kept->second.only_budget = true;
        kept->second.budget = most;
      }
    }
  }
}

// A number of bytes says nothing of what is counted.
bool suits(const std::optional<Tolerance>& tolerance, const CheckedMetric& metric) {
  return tolerance && (metric.in_bytes || !tolerance->sized);
}

BaselineMetric renewed(const BaselineMetric* old, const CheckedMetric& metric,
                       const std::optional<Tolerance>& own, const CheckQuestion& question) {
  BaselineMetric kept = old != nullptr ? *old : BaselineMetric{};
  if (suits(question.tolerance, metric)) kept.tolerance = *question.tolerance;
  if (own) kept.tolerance = *own;
  return kept;
}

void set_metrics(BaselineEntry& entry, const CheckQuestion& question) {
  const auto old = std::exchange(entry.metrics, {});
  const auto keep = [&](const CheckedMetric& metric, const std::optional<Tolerance>& own) {
    const auto found = old.find(metric.name);
    const BaselineMetric* known = found == old.end() ? nullptr : &found->second;
    entry.metrics.emplace(metric.name, renewed(known, metric, own, question));
  };
  for (const auto& [metric, tolerance] : question.metrics) keep(*metric, tolerance);
  if (!question.metrics.empty()) return;
  for (const auto& [name, metric] : old) keep(checked_metric(name), std::nullopt);
  if (!old.empty()) return;
  for (const CheckedMetric& metric : checked_metrics()) {
    // On a limited device a refused request would make the peaks lower, and pass unseen.
    if (metric.by_default || (metric.name == "ooms" && entry.setup.capacity)) {
      keep(metric, std::nullopt);
    }
  }
}

// What was said stays; a file of before gets the rule of today.
FromBefore from_before(const BaselineEntry* old, const CheckQuestion& question) {
  if (question.from_before) return *question.from_before;
  return old == nullptr || old->from_before == FromBefore::unsaid ? FromBefore::counted
                                                                  : old->from_before;
}

std::optional<Bytes> capacity_of(const BaselineEntry* old, const Trace& trace,
                                 const CheckQuestion& question) {
  if (question.endless) return std::nullopt;
  if (question.capacity) return question.capacity;
  if (old != nullptr) return old->setup.capacity;
  const auto oom = first_recorded_oom(trace);
  const bool tells = oom && oom->room() > 0;  // logs of requests alone do not
  return tells ? std::optional(oom->room()) : std::nullopt;
}

CheckPlan check_plan(const Chosen& chosen, const Baseline& baseline,
                     const CheckQuestion& question) {
  CheckPlan plan{chosen, {}};
  refuse_empty(chosen);
  const auto entries = entries_of(baseline, question.baseline, chosen);
  if (entries.empty()) refuse_missing(chosen, question, "");
  for (const std::string& strategy : question.strategies) {
    const BaselineEntry* entry = under(entries, strategy);
    if (entry == nullptr) refuse_missing(chosen, question, strategy);
    plan.entries.push_back(*entry);
  }
  if (question.strategies.empty()) {
    for (const BaselineEntry* entry : entries) plan.entries.push_back(*entry);
  }
  if (!question.tolerance) return plan;
  for (BaselineEntry& entry : plan.entries) {
    for (auto& [name, metric] : entry.metrics) {
      refuse_size_of_times(checked_metric(name), question.tolerance);
      metric.tolerance = *question.tolerance;
    }
  }
  return plan;
}

}  // namespace

void refuse_size_of_times(const CheckedMetric& metric, const std::optional<Tolerance>& tolerance) {
  if (!tolerance || !tolerance->sized || metric.in_bytes) return;
  throw UsageError(fmt::format("the tolerance of {} is '{}'; expected a share or a number of times",
                               metric.name, tolerance->text));
}

std::vector<CheckPlan> plan_check(const Inputs& inputs, const Baseline& baseline,
                                  const CheckQuestion& question, std::vector<NotChecked>& failed) {
  std::vector<CheckPlan> plans;
  for (const Chosen& chosen : inputs.chosen()) {
    try {
      plans.push_back(check_plan(chosen, baseline, question));
    } catch (const InputError& error) {
      failed.push_back({chosen.recording->path, error.what()});
    }
  }
  if (!plans.empty()) apply_limits(plans, question);
  return plans;
}

std::vector<CheckPlan> plan_update(const Inputs& inputs, const Baseline& baseline,
                                   const CheckQuestion& question) {
  std::vector<CheckPlan> plans;
  for (const Chosen& chosen : inputs.chosen()) {
    CheckPlan& plan = plans.emplace_back(CheckPlan{chosen, {}});
    refuse_empty(chosen);
    const auto entries = entries_of(baseline, question.baseline, chosen);
    std::vector<std::string> strategies = question.strategies;
    if (strategies.empty()) {
      for (const BaselineEntry* entry : entries) strategies.push_back(entry->setup.strategy);
    }
    if (strategies.empty()) strategies.push_back(CheckSetup{}.strategy);
    for (const std::string& strategy : strategies) {
      const BaselineEntry* old = under(entries, strategy);
      BaselineEntry& entry = plan.entries.emplace_back(
          old != nullptr
              ? *old
              : BaselineEntry{.trace = kept_path(chosen.recording->path, question.baseline),
                              .gpu = chosen.trace->gpu,
                              .setup = {.strategy = strategy}});
      if (question.release) entry.setup.release = *question.release;
      entry.setup.capacity = capacity_of(old, *chosen.trace, question);
      entry.from_before = from_before(old, question);
      set_metrics(entry, question);
    }
  }
  return plans;
}

std::string kept_path(const std::string& trace, const std::string& baseline) {
  if (trace == kStandardInput) return trace;
  return whole_path(trace).lexically_relative(folder_of(baseline)).generic_string();
}

bool is_kept_path(const std::string& kept, const std::string& trace, const std::string& baseline) {
  if (trace == kStandardInput || kept == kStandardInput) return kept == trace;
  const std::filesystem::path relative = (folder_of(baseline) / kept).lexically_normal();
  if (relative == whole_path(trace)) return true;
  std::error_code ignored;
  return whole_path(kept) == whole_path(trace) && !std::filesystem::exists(relative, ignored);
}

void renew_paths(Baseline& baseline, const std::string& path, const Inputs& inputs) {
  Baseline renewed;
  for (BaselineEntry& entry : baseline.entries) {
    for (const Chosen& chosen : inputs.chosen()) {
      const std::string& trace = chosen.recording->path;
      if (is_kept_path(entry.trace, trace, path)) entry.trace = kept_path(trace, path);
    }
    const bool there = renewed.find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr;
    if (!there) renewed.add(std::move(entry));
  }
  baseline = std::move(renewed);
}

}  // namespace memreplay
