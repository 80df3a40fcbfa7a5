#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/units.hpp"
#include "extensions/what_if/vary/law_family.hpp"

namespace memreplay {

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
  std::vector<SizeAt> points = {};  ///< for a parabola or a guess

  /// At least 1: what was asked for is asked for.
  Bytes at(std::int64_t x) const;
};

/// The laws that give all points exactly, the likeliest first; the others where that one is not the
/// only one that is plausible. `points` by ascending value, of one of those blocks.
std::vector<SizeLaw> laws_through(std::span<const SizeAt> points, const LawFamily& family);

}  // namespace memreplay
