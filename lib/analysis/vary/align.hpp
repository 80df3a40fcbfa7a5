#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// A call of a program as far as it tells which call of another run of it is the same one.
struct AlignItem {
  std::uint32_t key = 0;    ///< only items of one key pair
  std::uint32_t block = 0;  ///< number of its block in the order of the requests
  Bytes size = 0;
  bool anchors = false;  ///< one of few of its key: a request with a stack of its own
};

/// The values of the parameter that two runs had.
struct ParameterValues {
  std::int64_t first = 1;
  std::int64_t second = 1;
};

/// How well blocks of these sizes pair: 3 where they are equal or in the ratio of the values or of
/// their squares, 1 where they grow as the values do, -1 otherwise.
int pairing_score(Bytes first, Bytes second, const ParameterValues& values);

using AlignedPair = std::pair<std::uint32_t, std::uint32_t>;

/// The pairs with the highest total score, ascending in both, within the band: `second` may lie
/// `band` items away from where `first` lies in proportion. Time and memory O(items x band).
std::vector<AlignedPair> align_in_band(std::span<const AlignItem> first,
                                       std::span<const AlignItem> second,
                                       const ParameterValues& values, std::size_t band);

/// Sequences of one shape pair one to one. Else anchors of keys that both have as often are paired
/// in their order, and only what lies between them is searched, in a band. O(items log items), and
/// O(items x band) between anchors, where the band is narrowed to keep within 64 MiB.
std::vector<AlignedPair> align(std::span<const AlignItem> first, std::span<const AlignItem> second,
                               const ParameterValues& values);

}  // namespace memreplay
