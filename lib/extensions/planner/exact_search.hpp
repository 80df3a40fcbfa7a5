#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "extensions/planner/sections.hpp"

namespace memreplay {

/// Is there a packing of at most `capacity` bytes? MiniMalloc's search (Moffitt, ASPLOS 2023):
/// blocks are placed from the bottom up, each at the lowest offset that those below leave it.
/// It can be left and gone on with. A node costs O(blocks + neighbours).
class ExactSearch {
 public:
  enum class Outcome { open, found, impossible };

  /// The letters of `word` rank blocks: W length, A area, T the most bytes that are still to be
  /// placed in one of its sections, Z size. Problem and sections outlive the search.
  ExactSearch(const PlanningProblem& problem, const Sections& sections, Bytes capacity,
              std::string_view word);
  ~ExactSearch();

  /// Visits up to `nodes` further ones.
  Outcome run(std::uint64_t nodes);
  std::uint64_t nodes() const;
  /// The packing of a search that found one.
  std::vector<Bytes> offsets() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

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
