#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// The size that a block has at a value of the parameter.
struct SizeAt {
  std::int64_t at = 1;
  Bytes size = 0;

  friend bool operator==(const SizeAt&, const SizeAt&) = default;
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
    constant,  ///< `line.low`
    line,      ///< a + b x^degree; where it is in proportion, its line goes through 0
    product,   ///< `factor` x line x other
    tiles,     ///< `factor` x ⌈line x times / tile⌉
    padded,    ///< `factor` x other x ⌈line / tile⌉
    parabola,  ///< through three points, where two of its terms are enough
    guess,     ///< no law fits: lines from point to point
    alone,     ///< one point: in proportion, or the same where it is small
  };
  Kind kind = Kind::constant;
  PowerLine line = {};
  PowerLine other = {};
  Bytes factor = 1;
  Bytes times = 1;
  Bytes tile = 1;
  std::vector<SizeAt> points = {};  ///< of a parabola or a guess

  /// At least 1: what was asked for is asked for.
  Bytes at(std::int64_t x) const;
};

/// What the blocks of one program have in common.
struct LawFamily {
  int degree = 1;  ///< most grow with x^degree: 2 where x is the side of an image
  /// Lengths that occur as factors of sizes, without common divisor: a number of tokens.
  std::vector<PowerLine> lengths = {};
};

/// `blocks` are the sizes of each, by ascending value.
LawFamily family_of(std::span<const std::vector<SizeAt>> blocks);

/// The simplest law that gives all of one to three points exactly. `points` by ascending value.
SizeLaw law_through(std::span<const SizeAt> points, const LawFamily& family);

}  // namespace memreplay
