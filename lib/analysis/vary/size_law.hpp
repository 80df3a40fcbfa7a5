#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/vary/length.hpp"
#include "core/units.hpp"

namespace memreplay {

/// The size that a block has at a value of the parameter.
struct SizeAt {
  std::int64_t at = 1;
  Bytes size = 0;

  auto operator<=>(const SizeAt&) const = default;
};

/// A rational straight line in x^degree through two points; nearest whole number, never below 0.
struct PowerLine {
  SizeAt low = {};
  SizeAt high = {};
  int degree = 1;

  Bytes at(std::int64_t x) const;
};

/// How the size of a block follows from the parameter.
struct SizeLaw {
  enum class Kind {
    constant,    ///< that of `point`
    proportion,  ///< to length x other
    tiles,       ///< `factor` x ⌈length x times / tile⌉
    padded,      ///< `factor` x other x ⌈length / tile⌉
    line,        ///< a + b x^degree
    parabola,    ///< through three points, where two of its terms are enough
    guess,       ///< no law fits: lines from point to point
  };
  Kind kind = Kind::constant;
  SizeAt point = {};
  Length length = {};
  std::optional<Length> other = {};
  Bytes factor = 1;
  Bytes times = 1;
  Bytes tile = 1;
  PowerLine line = {};
  std::vector<SizeAt> points = {};  ///< of a parabola or a guess

  /// At least 1: what was asked for is asked for.
  Bytes at(std::int64_t x) const;
};

/// What the blocks of one program have in common.
struct LawFamily {
  int degree = 1;            ///< most grow with x^degree: 2 where x is the side of an image
  Bytes largest = 0;         ///< of those that grow
  bool loses_edges = false;  ///< layers without padding: the side of an image gets less by a few
  /// Lengths that occur as factors of sizes, the most frequent first: a number of tokens.
  std::vector<Length> lengths = {};
  std::map<std::vector<std::int64_t>, Lengths> known = {};  ///< by the values of a block's points
};

/// `blocks` are the sizes of each, by ascending value.
LawFamily family_of(std::span<const std::vector<SizeAt>> blocks);

/// The laws that give all points exactly, the likeliest first; the others where that one is not the
/// only one that is plausible. `points` by ascending value, of one of those blocks.
std::vector<SizeLaw> laws_through(std::span<const SizeAt> points, const LawFamily& family);

}  // namespace memreplay
