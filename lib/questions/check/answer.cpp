#include "questions/check/answer.hpp"

#include <algorithm>

#include "questions/check/check.hpp"
#include "questions/check/plan.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

/// Hands every finished check to `use`, with the entry that it is of. False: stopped.
template <typename Use>
bool check_all(const std::vector<CheckPlan>& plans, const CheckQuestion& question, bool with_starts,
               const Control& control, Use use) {
  for (const CheckPlan& plan : plans) {
    if (control.stopped()) return false;
    const Subject subject = plan.chosen.subject(control);
    const LateStart late(subject, replay_options(subject.trace(), {}, control));
    for (const BaselineEntry& entry : plan.entries) {
      const std::string name = entry.trace + ' ' + entry.setup.strategy;
      const Control named{control.stop,
                          [&](const std::string&, double share) { control.show(name, share); }};
      EntryCheck check = check_entry(subject, late, entry, named);
      check.versions.program = question.program;
      if (with_starts && !check.counts_before()) {
        check.with_start = with_start(subject, late, entry, named);
      }
      if (!check.finished || control.stopped()) return false;
      use(entry, std::move(check));
    }
  }
  return true;
}

std::vector<BaselineEntry> others_in(const Baseline& baseline,
                                     const std::vector<CheckPlan>& plans) {
  Baseline checked;
  for (const CheckPlan& plan : plans) {
    for (const BaselineEntry& entry : plan.entries) checked.add(entry);
  }
  std::vector<BaselineEntry> others;
  for (const BaselineEntry& entry : baseline.entries) {
    if (checked.find(entry.trace, entry.gpu, entry.setup.strategy) != nullptr) continue;
    others.push_back(entry);
  }
  return others;
}

std::optional<std::uint64_t> value_in(const BaselineEntry* entry, const CheckedMetric& metric) {
  if (entry == nullptr) return std::nullopt;
  const auto found = entry->metrics.find(metric.name);
  if (found == entry->metrics.end()) return std::nullopt;
  return found->second.value;
}

EntryUpdate update_entry(Baseline& baseline, const BaselineEntry& entry, EntryCheck check) {
  BaselineEntry fresh = updated(entry, check);
  BaselineEntry* old = baseline.find(entry.trace, entry.gpu, entry.setup.strategy);
  EntryUpdate update{.check = std::move(check), .changes = {}, .asked = entry};
  for (const CheckedMetric& metric : checked_metrics()) {
    const auto before = value_in(old, metric);
    const auto after = value_in(&fresh, metric);
    if (before != after) update.changes.push_back({&metric, before, after});
  }
  update.kind = old == nullptr  ? EntryUpdate::Kind::fresh
                : *old == fresh ? EntryUpdate::Kind::same
                                : EntryUpdate::Kind::changed;
  if (old != nullptr) {
    *old = std::move(fresh);
  } else {
    baseline.add(std::move(fresh));
  }
  return update;
}

}  // namespace

bool CheckAnswer::passed() const {
  return !interrupted && failed.empty() && std::ranges::all_of(entries, &EntryCheck::passed);
}

CheckAnswer answer(const Inputs& inputs, const Baseline& baseline, const CheckQuestion& question,
                   const Control& control) {
  CheckAnswer answer{.baseline = question.baseline};
  for (const Unreadable& file : inputs.unreadable()) {
    answer.failed.push_back({file.path, file.message});
  }
  const std::vector<CheckPlan> plans = plan_check(inputs, baseline, question, answer.failed);
  answer.not_checked = others_in(baseline, plans);
  answer.interrupted = !check_all(
      plans, question, true, control,
      [&](const BaselineEntry&, EntryCheck check) { answer.entries.push_back(std::move(check)); });
  return answer;
}

UpdateAnswer answer_update(const Inputs& inputs, Baseline baseline, const CheckQuestion& question,
                           const Control& control, const UpdateAnswer& earlier) {
  UpdateAnswer answer{.baseline = question.baseline, .entries = {}, .renewed = std::move(baseline)};
  renew_paths(answer.renewed, question.baseline, inputs);
  std::vector<CheckPlan> plans = plan_update(inputs, answer.renewed, question);
  const auto use = [&](const BaselineEntry& entry, EntryCheck check) {
    answer.entries.push_back(update_entry(answer.renewed, entry, std::move(check)));
  };
  for (CheckPlan& plan : plans) {
    std::erase_if(plan.entries, [&](const BaselineEntry& entry) {
      const auto known = std::ranges::find(earlier.entries, entry, &EntryUpdate::asked);
      if (known != earlier.entries.end()) use(entry, known->check);
      return known != earlier.entries.end();
    });
  }
  std::erase_if(plans, [](const CheckPlan& plan) { return plan.entries.empty(); });
  answer.interrupted = !check_all(plans, question, false, control, use);
  return answer;
}

}  // namespace memreplay
