#pragma once

#include <deque>
#include <span>

#include "analysis/edit/edited.hpp"
#include "analysis/run/run.hpp"
#include "analysis/suggest/answer.hpp"

namespace memreplay {

/// A program that is to fit: as it is, or with edits and whatever else these may come to.
class FittedProgram {
 public:
  /// `subject` outlives it. Throws UsageError as `edited` does.
  FittedProgram(const Subject& subject, std::span<const Edit> edits);
  FittedProgram(const FittedProgram&) = delete;
  FittedProgram& operator=(const FittedProgram&) = delete;

  const Subject& likeliest() const { return edited_ ? *edited_ : as_it_is_; }
  const std::deque<Subject>& others() const { return others_; }
  /// Empty where nothing was edited.
  const MadeRecordings& made() const { return made_; }

 private:
  const Subject& as_it_is_;
  MadeRecordings made_;
  std::optional<Subject> edited_;
  std::deque<Subject> others_;
};

/// Says of programs whether they fit a budget.
class BudgetJudge {
 public:
  BudgetJudge(const Setup& setup, Bytes budget, const Control& control)
      : setup_(setup), control_(control), budget_(budget) {}

  /// How much it reserves where the device is endless, and whether the budget, without what the
  /// suggestion has still to come, suffices: whatever the edits leave open. A replay for each of
  /// the guesses, and where it is more than the budget another one on a full device.
  void judge(const FittedProgram& program, const StrategySpec& spec, Suggestion& suggestion) const;

  /// What it requests is no more than there is.
  bool may_fit(const Suggestion& judged) const;

  /// Replays on what of the budget is not set aside; `may_fit` said that there is some.
  Setup full_device(const Suggestion& judged) const;

 private:
  Run run_on(const FittedProgram& program, const StrategySpec& spec, const Setup& setup) const;
  bool serve(const std::deque<Subject>& others, const StrategySpec& spec, const Setup& setup) const;
  Bytes held() const { return setup_.device.reserve.value_or(0); }

  const Setup& setup_;
  const Control& control_;
  Bytes budget_;
};

}  // namespace memreplay
