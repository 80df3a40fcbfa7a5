#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "extensions/planner/problem.hpp"

namespace memreplay {

/// The problem as a search sees it, as MiniMalloc's sweep makes it (google/minimalloc): instants
/// are gathered into sections, in each of which the same blocks are in use. O(n log n + pairs).
struct Sections {
  /// A block uses `bytes` in the sections [first, last).
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    Bytes bytes = 0;
  };
  /// Lists by row or section, one after the other.
  template <typename T>
  struct Lists {
    std::vector<std::uint32_t> begins = {0};  ///< one more than there are lists
    std::vector<T> items;

    std::size_t size() const { return begins.size() - 1; }
    std::span<const T> operator[](std::size_t i) const {
      return std::span(items).subspan(begins[i], begins[i + 1] - begins[i]);
    }
  };

  Lists<Run> runs;                  ///< by row, in time; gaps lie between them
  Lists<std::uint32_t> neighbours;  ///< by row: what is in use together with it
  /// One for each neighbour: what lies above lies this far above the row's offset. Empty: by its
  /// size.
  std::vector<Bytes> rises;
  Lists<std::uint32_t> members;  ///< by section: the rows in use

  bool has_windows() const { return !rises.empty(); }  ///< gaps that leave a part in use

  std::uint32_t count() const { return static_cast<std::uint32_t>(members.size()); }
  std::uint32_t first(std::uint32_t row) const { return runs[row].front().first; }
  std::uint32_t last(std::uint32_t row) const { return runs[row].back().last; }
};

Sections sections_of(const PlanningProblem& problem);

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
