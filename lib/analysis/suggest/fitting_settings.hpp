#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/suggest/fitting.hpp"
#include "analysis/tune/answer.hpp"

namespace memreplay {

/// Looks for settings of PyTorch's allocator under which programs fit that do not under the usual
/// ones: a search of `tune` on what the budget leaves, of 100 to 400 settings, the fewer the longer
/// the recording is, with at most a replay for each. Where one serves what is thought the likeliest
/// but not all that the edits leave open, another search is over all of it.
class FittingSettings {
 public:
  FittingSettings(const Setup& setup, const BudgetJudge& judge, const Control& control)
      : setup_(setup), judge_(judge), control_(control) {}

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

  const Setup& setup_;
  const BudgetJudge& judge_;
  const Control& control_;
  SearchedSettings searched_;
  std::uint64_t events_ = 0;  ///< replayed so far, at most
};

}  // namespace memreplay
