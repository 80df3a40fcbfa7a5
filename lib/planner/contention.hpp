#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/sections.hpp"

namespace memreplay {

/// Looks for a packing of at most `capacity` bytes as TelaMalloc does (Maas and others, ASPLOS
/// 2023), a model after its description: the densest instants first, of their blocks in turn the
/// one of the longest life, the largest and the one of the largest area, each at its lowest free
/// place, and back where that leaves another block none. Proves nothing where it finds none. Only
/// for problems without windows. A node costs O(blocks + neighbours).
class ContentionSearch {
 public:
  enum class Outcome { open, found, given_up };

  /// Problem and sections outlive the search.
  ContentionSearch(const PlanningProblem& problem, const Sections& sections, Bytes capacity);
  ~ContentionSearch();

  /// Visits up to `nodes` further ones.
  Outcome run(std::uint64_t nodes);
  /// The packing of a search that found one.
  std::vector<Bytes> offsets() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace memreplay
