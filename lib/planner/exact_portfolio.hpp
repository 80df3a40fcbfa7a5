#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "planner/exact_search.hpp"

namespace memreplay {

/// Puts one question to searches that rank blocks differently; the first answer counts.
class ExactPortfolio {
 public:
  /// Problem and sections outlive it.
  ExactPortfolio(const PlanningProblem& problem, const Sections& sections, Bytes capacity);

  /// Lets each search go on for up to `nodes`, on up to `threads` threads; all of them ask now and
  /// then whether it is over.
  ExactSearch::Outcome run(std::uint64_t nodes, unsigned threads,
                           const std::function<bool()>& over);
  std::uint64_t nodes() const;
  /// Where one found them.
  std::vector<Bytes> offsets() const;

 private:
  const PlanningProblem& problem_;
  const Sections& sections_;
  Bytes capacity_ = 0;
  std::vector<std::unique_ptr<ExactSearch>> searches_;
  std::size_t answered_by_ = 0;
};

}  // namespace memreplay
