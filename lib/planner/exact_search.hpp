#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "planner/sections.hpp"

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

}  // namespace memreplay
