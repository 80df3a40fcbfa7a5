#pragma once

#include <optional>
#include <string>
#include <utility>

#include "extensions/diff/answer.hpp"

/// How the reports of a comparison say the same things.
namespace memreplay {

/// Two sizes as text, exact where units would make them look the same.
std::pair<std::string, std::string> sizes_apart(Bytes a, Bytes b);

/// "+72 MiB", "-3 MiB", "0": what `now` is above `before`.
std::string size_change(Bytes before, Bytes now);
std::string count_change(std::uint64_t before, std::uint64_t now);

/// "+2 x 20 MiB", "8 x 4 MiB -> 8 x 6 MiB": the blocks that have no match on the other side.
std::string blocks_phrase(const PlaceDiff& place);

/// "model.py:13 forward, private pool, side stream 1"; the default ones are not named.
std::string place_phrase(const PlaceDiff& place);

/// The reserved peaks of two runs, side by side.
struct ReservedApart {
  std::string a;  ///< "4096 MiB"; for an estimate "≈ 5210 MiB (4900 MiB to 5600 MiB)"
  std::string b;
  std::string change;      ///< from A to B; "undecided" where the ranges of estimates overlap
  std::string difference;  ///< without its sign
  bool undecided = false;
};
ReservedApart reserved_apart(const Run& a, const Run& b);
/// The reserved peaks that are compared; unset where a side has none.
std::optional<ReservedApart> reserved_apart(const RecordingsDiff& diff);

}  // namespace memreplay
