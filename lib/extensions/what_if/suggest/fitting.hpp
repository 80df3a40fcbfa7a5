#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "extensions/what_if/edit/edit.hpp"
#include "extensions/what_if/suggest/answer.hpp"
#include "questions/settings/result.hpp"
#include "run/run.hpp"

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
  BudgetJudge(const Setup& setup, Bytes budget, RestOfStep rest, const Control& control)
      : setup_(setup), control_(control), budget_(budget), rest_(rest) {}

  /// How much it reserves where the device is endless, and whether the budget suffices, without
  /// what the suggestion has still to come and with it: whatever the edits leave open. A replay for
  /// each of the guesses, and where it is more than the budget another one on a full device.
  void judge(const FittedProgram& program, const StrategySpec& spec, Suggestion& suggestion) const;

  /// What it requests is no more than there is.
  bool may_fit(const Suggestion& judged) const;

  /// Replays on what of the budget is not set aside; `may_fit` said that there is some.
  Setup full_device(const Suggestion& judged) const;

 private:
  /// On what of the budget is not set aside.
  bool serves(const FittedProgram& program, const StrategySpec& spec, Suggestion& suggestion) const;
  Run run_on(const FittedProgram& program, const StrategySpec& spec, const Setup& setup) const;
  bool all_serve(const std::deque<Subject>& others, const StrategySpec& spec,
                 const Setup& setup) const;
  Bytes held() const { return setup_.reserve.value_or(0); }

  const Setup& setup_;
  const Control& control_;
  Bytes budget_;
  RestOfStep rest_;
};

/// Looks for settings of PyTorch's allocator under which programs fit that do not under the usual
/// ones: a search of `tune` on what the budget leaves, of 100 to 400 settings, the fewer the longer
/// the recording is, with at most a replay for each. Where one serves what is thought the likeliest
/// but not all that the edits leave open, another search is over all of it.
class FittingSettings {
 public:
  FittingSettings(const BudgetJudge& judge, const Control& control)
      : judge_(judge), control_(control) {}

  /// Not too many events were replayed yet to look at another program.
  bool goes_on() const;

  /// `as_usual`, which is for the program and does not fit, under the simplest setting by which it
  /// fits; among equals the one with the fewest retries, then reserved bytes. Unset: none is known.
  std::optional<Suggestion> search(const FittedProgram& program, const Suggestion& as_usual);

  /// What all searches together did.
  const SearchedSettings& searched() const { return searched_; }

 private:
  using Subjects = std::vector<const Subject*>;
  TuneResult tuned(const Subjects& subjects, const Suggestion& as_usual);
  std::optional<Suggestion> best_of(const TuneResult& result, const FittedProgram& program,
                                    const Suggestion& as_usual) const;

  const BudgetJudge& judge_;
  const Control& control_;
  SearchedSettings searched_;
  std::uint64_t events_ = 0;  ///< replayed so far, at most
};

}  // namespace memreplay
