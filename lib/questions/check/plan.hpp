#pragma once

#include <optional>
#include <string>
#include <vector>

#include "questions/check/answer.hpp"

namespace memreplay {

/// A number of bytes means nothing for what is counted. Throws UsageError.
void refuse_size_of_times(const CheckedMetric& metric, const std::optional<Tolerance>& tolerance);

/// What is to be replayed for one device of a recording.
struct CheckPlan {
  Chosen chosen;
  std::vector<BaselineEntry> entries;
};

/// The entries of the baseline for what was asked for, with the tolerances of the
/// question. What has none is added to `failed`. Throws InputError for a metric that no entry has.
std::vector<CheckPlan> plan_check(const Inputs& inputs, const Baseline& baseline,
                                  const CheckQuestion& question, std::vector<NotChecked>& failed);

/// The entries for an update: those that the baseline lacks are made; metrics that it has stay,
/// and tolerances where the question has none. Throws InputError where one cannot be checked.
std::vector<CheckPlan> plan_update(const Inputs& inputs, const Baseline& baseline,
                                   const CheckQuestion& question);

class Inputs;

/// The path under which a baseline keeps a trace: relative to the folder of the baseline's file, so
/// that it holds from whatever folder it is asked for.
std::string kept_path(const std::string& trace, const std::string& baseline);

/// Whether a kept path is that of the trace. Early baselines have paths as they were given.
bool is_kept_path(const std::string& kept, const std::string& trace, const std::string& baseline);

/// Gives the entries of these recordings the paths under which they are kept now.
void renew_paths(Baseline& baseline, const std::string& path, const Inputs& inputs);

}  // namespace memreplay
