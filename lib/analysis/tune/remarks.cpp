#include "analysis/tune/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "strategy/torch/lint.hpp"

namespace memreplay {
namespace {

/// The first reason why some trace is not exact; empty where all are.
std::string first_reason(const TuneOutcome& outcome) {
  const auto found = std::ranges::find(outcome.runs, false, &Run::exact);
  return found == outcome.runs.end() ? std::string() : found->inexact_because;
}

/// What the recorded settings are worth by the rules of the search.
std::vector<std::string> torch_remarks(const std::vector<const Subject*>& subjects,
                                       const TuneResult& result) {
  std::vector<std::string> said;
  for (const SettingIssue& issue : lint_settings(result.baseline_conf, result.torch_version)) {
    said.push_back("The recorded setting: " + issue.text + ".");
  }
  for (const Subject* subject : subjects) {
    const std::string& conf = subject->recording().settings.conf;
    for (const SettingIssue& issue : lint_settings(conf, result.torch_version)) {
      if (issue.severity != SettingIssue::Severity::error) continue;
      std::string text =
          fmt::format("Left out of the settings of {}: {}.", subject->recording().path, issue.text);
      if (std::ranges::find(said, text) == said.end()) said.push_back(std::move(text));
    }
  }
  return said;
}

}  // namespace

std::string insertions_remark(const TuneResult& result) {
  if (!result.without_insertions) return {};
  const RunSoFar with = result.baseline_outcome.total();
  const RunSoFar without = result.without_insertions->total();
  return fmt::format(
      "The inserted empty_cache alone: {} reserves {} with it and {} without, with {} and {} "
      "device calls.",
      result.baseline, human_size(with.peak_reserved), human_size(without.peak_reserved),
      human_count(with.device_calls), human_count(without.device_calls));
}

std::vector<std::string> search_remarks(const std::vector<const Subject*>& subjects,
                                        const std::set<std::string>& forbidden,
                                        const TuneResult& result) {
  std::vector<std::string> said;
  const bool torch = result.strategy == "torch";
  if (torch) said = torch_remarks(subjects, result);
  if (const std::string reason = first_reason(result.baseline_outcome); !reason.empty()) {
    said.push_back(fmt::format("{} is an estimate: {}.", result.baseline, reason));
  }
  if (torch && !forbidden.contains("expandable_segments") &&
      !forbidden.contains("max_split_size_mb")) {
    said.emplace_back(
        "Not combined, as they fight: expandable_segments:True with max_split_size_mb or "
        "garbage_collection_threshold (memreplay lint says why).");
  }
  const std::string reason = first_reason(result.outcomes[result.best]);
  if (!reason.empty() && result.helps) {
    said.push_back(fmt::format("What is recommended is an estimate: {}.", reason));
  }
  return said;
}

}  // namespace memreplay
