#pragma once

#include <limits>

#include "core/units.hpp"

namespace memreplay {

/// The whole part of a number of bytes; none of what is below zero or no number, and as many as
/// there can be of what is beyond them.
constexpr Bytes bytes_of(double number) {
  if (!(number >= 1)) return 0;
  constexpr double kBeyond = 0x1p64;
  return number < kBeyond ? static_cast<Bytes>(number) : std::numeric_limits<Bytes>::max();
}

}  // namespace memreplay
