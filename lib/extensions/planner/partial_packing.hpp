#pragma once

#include <cstdint>
#include <vector>

#include "extensions/planner/sections.hpp"

namespace memreplay {

/// Some blocks placed from the bottom up, none ever below another that was placed before, and what
/// that leaves to the others. Blocks are taken back in the opposite order.
class PartialPacking {
 public:
  using Height = std::int64_t;
  using Row = std::uint32_t;

  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr Height kTooHigh = INT64_MAX / 4;

  /// Problem and sections outlive it. Capacity and sizes add up to less than 2^61.
  PartialPacking(const PlanningProblem& problem, const Sections& sections, Bytes capacity);

  /// Not even the empty packing can be completed.
  bool hopeless() const { return hopeless_; }
  bool is_placed(Row row) const { return placed_[row] != 0; }
  /// Where it lies, or the lowest place that the blocks below leave it.
  Height lowest(Row row) const { return lowest_[row]; }
  Height top(Row row) const { return lowest_[row] + sizes_[row]; }
  /// No block in a section may begin above, or its others find no room: the capacity less all that
  /// is still to be placed there.
  Height ceiling(std::uint32_t section) const { return ceiling_[section]; }
  /// Blocks yet to be placed that live on from this section into the next.
  std::uint32_t spanning(std::uint32_t section) const { return spanning_[section]; }

  struct Mark {
    std::size_t offsets = 0;
    std::size_t witnesses = 0;
  };
  Mark mark() const { return {old_offsets_.size(), old_witnesses_.size()}; }
  /// At its lowest place. False where the others cannot all be placed any more; it is to be taken
  /// back then too. O(neighbours), and where a section's lowest block moves, O(its blocks).
  bool place(Row row);
  /// `mark` as it was before the block was placed.
  void take_back(Row row, Mark mark);

  // About the block placed last:
  bool hatless() const { return hatless_; }  ///< nothing that is yet to be placed can lie above
  /// The sections with which something new begins: no block yet to be placed spans into them.
  const std::vector<std::uint32_t>& cuts() const { return cuts_; }

 private:
  struct OldOffset {
    Row row = 0;
    Height offset = 0;
  };
  struct OldWitness {
    std::uint32_t section = 0;
    Row row = 0;
  };

  void add(Row row);
  bool raise_neighbours(Row row);
  bool rise(Row row, Height offset);
  bool keep_witnesses(Row row);
  bool find_witness(std::uint32_t section);
  void set_witness(std::uint32_t section, Row row);

  const PlanningProblem& problem_;
  const Sections& sections_;
  Height capacity_ = 0;
  bool hopeless_ = false;
  bool hatless_ = false;
  std::vector<std::uint32_t> cuts_;

  // By row.
  std::vector<Height> lowest_;
  std::vector<Height> sizes_;
  std::vector<Height> fixed_;  ///< its given place, or kTooHigh
  std::vector<std::uint8_t> placed_;
  std::vector<std::uint32_t> watched_;  ///< the first section whose witness it is

  // By section. Its witness is yet to be placed and not above the ceiling: as long as there is one,
  // nothing else of the section needs a look.
  std::vector<Height> ceiling_;
  std::vector<Row> witness_;
  std::vector<std::uint32_t> next_watched_, last_watched_;  ///< list of one witness's sections
  std::vector<std::uint32_t> spanning_;

  std::vector<OldOffset> old_offsets_;
  std::vector<OldWitness> old_witnesses_;
};

}  // namespace memreplay
