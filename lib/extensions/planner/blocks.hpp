#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/plan.hpp"
#include "core/units.hpp"

namespace memreplay {

/// A block whose whole life is known: it lives during [start, end), with start < end.
struct PlannedBlock {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  Bytes size = 0;       ///< above 0
  Bytes alignment = 1;  ///< power of two

  std::uint64_t length() const { return end - start; }
  bool overlaps(const PlannedBlock& other) const { return start < other.end && other.start < end; }
};

/// The blocks with times that count the moments at which one starts or ends: what else happens
/// between them is nothing to who places them. O(n log n).
std::vector<PlannedBlock> at_own_times(std::vector<PlannedBlock> blocks);

/// No packing is higher; where places are given, what does not fit below fits nowhere.
inline constexpr Bytes kEndlessCapacity = Bytes{1} << 60;

/// A place for each block.
struct Packing {
  std::vector<Bytes> offsets;  ///< by block
  Bytes height = 0;            ///< the largest offset + size
};

/// Offsets as a packing, with its height.
Packing packing_of(std::span<const PlannedBlock> blocks, std::vector<Bytes> offsets);

/// Something fits there above `given` places, if anything does at all; at most kEndlessCapacity.
Bytes total_size(std::span<const PlannedBlock> blocks, Bytes given = 0);

/// Two blocks (or one twice: a crooked offset) that the packing must not place so; unset where it
/// is sound. O(n log n).
std::optional<std::pair<std::size_t, std::size_t>> first_conflict(
    std::span<const PlannedBlock> blocks, const Packing& packing);

/// No packing is lower: the peak of live bytes, or more where alignments force holes. O(n log n).
Bytes lower_bound_of(std::span<const PlannedBlock> blocks);

struct TimeSpan {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  ///< above `from`
};

/// Below the packing's height, what no block takes at any time of each span, ascending. Spans
/// begin in their order. O(n log n + spans * live blocks).
std::vector<std::vector<Plan::Range>> free_during(std::span<const PlannedBlock> blocks,
                                                  const Packing& packing,
                                                  std::span<const TimeSpan> spans);

}  // namespace memreplay
