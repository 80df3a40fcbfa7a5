#include "analysis/check/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"

namespace memreplay {
namespace {

// "./run.csv" is "run.csv".
bool same_path(const std::string& a, const std::string& b) {
  const auto plain = [](const std::string& path) {
    return std::filesystem::path(path).lexically_normal();
  };
  return plain(a) == plain(b);
}

std::vector<const BaselineEntry*> entries_of(const Baseline& baseline, const Chosen& chosen) {
  std::vector<const BaselineEntry*> entries;
  for (const BaselineEntry& entry : baseline.entries) {
    if (same_path(entry.trace, chosen.recording->path) && entry.gpu == chosen.trace->gpu) {
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

// Less is better: of nothing at all everything would be within its limit.
void refuse_empty(const Chosen& chosen) {
  if (std::ranges::any_of(chosen.trace->ops, is_request)) return;
  throw InputError(chosen.recording->path, "",
                   "has no allocation in its history; a check starts from an empty device");
}

[[noreturn]] void refuse_missing(const Chosen& chosen, const CheckQuestion& question,
                                 const std::string& strategy) {
  throw InputError(
      question.baseline, "",
      fmt::format("has no entry for {} gpu {}{}; with --update it gets one", chosen.recording->path,
                  chosen.trace->gpu, strategy.empty() ? "" : " under " + strategy));
}

// What the question says counts for this once.
void loosen(std::vector<CheckPlan>& plans, const CheckQuestion& question) {
  for (const auto& [metric, tolerance] : question.metrics) {
    bool known = false;
    for (CheckPlan& plan : plans) {
      for (BaselineEntry& entry : plan.entries) {
        const auto found = entry.metrics.find(metric->name);
        if (found == entry.metrics.end()) continue;
        known = true;
        found->second.tolerance = *tolerance;
      }
    }
    if (known) continue;
    throw InputError(
        question.baseline, "",
        fmt::format("has no {} of these traces; with --update, --metric chooses what it holds",
                    metric->name));
  }
}

void set_metrics(BaselineEntry& entry, const CheckQuestion& question) {
  const Tolerance usual = question.tolerance.value_or(default_tolerance());
  const auto old = entry.metrics;
  if (!question.metrics.empty()) entry.metrics.clear();
  for (const auto& [metric, tolerance] : question.metrics) {
    const auto found = old.find(metric->name);
    BaselineMetric kept = found == old.end() ? BaselineMetric{0, usual} : found->second;
    if (tolerance) kept.tolerance = *tolerance;
    entry.metrics.emplace(metric->name, kept);
  }
  if (!entry.metrics.empty()) return;
  for (const CheckedMetric& metric : checked_metrics()) {
    // On a limited device a refused request would make the peaks lower, and pass unseen.
    const bool kept = metric.by_default || (metric.name == "ooms" && entry.setup.capacity);
    if (!kept) continue;
    entry.metrics.emplace(metric.name,
                          BaselineMetric{0, metric.in_bytes ? usual : default_tolerance()});
  }
}

}  // namespace

void refuse_size_of_times(const CheckedMetric& metric, const std::optional<Tolerance>& tolerance) {
  if (!tolerance || !tolerance->sized || metric.in_bytes) return;
  throw UsageError(fmt::format("the tolerance of {} is '{}'; expected a share or a number of times",
                               metric.name, tolerance->text));
}

std::vector<CheckPlan> plan_check(const Inputs& inputs, const Baseline& baseline,
                                  const CheckQuestion& question) {
  std::vector<CheckPlan> plans;
  for (const Chosen& chosen : inputs.chosen()) {
    CheckPlan& plan = plans.emplace_back(CheckPlan{chosen, {}});
    refuse_empty(chosen);
    const auto entries = entries_of(baseline, chosen);
    if (entries.empty()) refuse_missing(chosen, question, "");
    for (const std::string& strategy : question.strategies) {
      const BaselineEntry* entry = under(entries, strategy);
      if (entry == nullptr) refuse_missing(chosen, question, strategy);
      plan.entries.push_back(*entry);
    }
    if (question.strategies.empty()) {
      for (const BaselineEntry* entry : entries) plan.entries.push_back(*entry);
    }
    if (!question.tolerance) continue;
    for (BaselineEntry& entry : plan.entries) {
      for (auto& [name, metric] : entry.metrics) {
        refuse_size_of_times(checked_metric(name), question.tolerance);
        metric.tolerance = *question.tolerance;
      }
    }
  }
  loosen(plans, question);
  return plans;
}

std::vector<CheckPlan> plan_update(const Inputs& inputs, const Baseline& baseline,
                                   const CheckQuestion& question) {
  std::vector<CheckPlan> plans;
  for (const Chosen& chosen : inputs.chosen()) {
    CheckPlan& plan = plans.emplace_back(CheckPlan{chosen, {}});
    refuse_empty(chosen);
    const auto entries = entries_of(baseline, chosen);
    std::vector<std::string> strategies = question.strategies;
    if (strategies.empty()) {
      for (const BaselineEntry* entry : entries) strategies.push_back(entry->setup.strategy);
    }
    if (strategies.empty()) strategies.push_back(CheckSetup{}.strategy);
    for (const std::string& strategy : strategies) {
      const BaselineEntry* old = under(entries, strategy);
      BaselineEntry& entry = plan.entries.emplace_back(
          old != nullptr ? *old
                         : BaselineEntry{.trace = chosen.recording->path,
                                         .gpu = chosen.trace->gpu,
                                         .setup = {.strategy = strategy}});
      if (question.torch_version) entry.setup.torch_version = *question.torch_version;
      if (question.capacity) entry.setup.capacity = question.capacity;
      set_metrics(entry, question);
    }
  }
  return plans;
}

}  // namespace memreplay
