#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/vary/length.hpp"
#include "analysis/vary/power_line.hpp"
#include "core/units.hpp"

namespace memreplay {

/// How layers round what they divide.
enum class Rounding { down, up, without_edges };

Rounding rounding_of(const Length& length);
/// Whether the side of an image was divided into very few parts in the first of the points.
bool leaves_few(const Length& length, std::span<const SizeAt> points);

/// What the blocks of one program have in common.
struct LawFamily {
  int degree = 1;            ///< most grow with x^degree: 2 where x is the side of an image
  Bytes largest = 0;         ///< the largest block that grows
  bool loses_edges = false;  ///< layers without padding: the side of an image gets less by a few
  /// Lengths that occur as factors of sizes, the most frequent first: a number of tokens.
  std::vector<Length> lengths = {};
  std::map<std::vector<std::int64_t>, Lengths> known = {};  ///< by the values of a block's points
};

/// `blocks` are the sizes of each, by ascending value.
LawFamily family_of(std::span<const std::vector<SizeAt>> blocks);

/// The lengths to which the points of one of those blocks are exactly proportional, the plainest
/// first.
std::vector<Length> lengths_of(std::span<const SizeAt> points, const LawFamily& family);

}  // namespace memreplay
