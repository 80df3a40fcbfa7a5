#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "core/units.hpp"

namespace memreplay {

/// The size that a block has at a value of the parameter.
struct SizeAt {
  std::int64_t at = 1;
  Bytes size = 0;

  auto operator<=>(const SizeAt&) const = default;
};

__extension__ using LawWide = __int128;

/// a and b of a + b x^degree, as they are times the difference of the powers.
struct Terms {
  LawWide constant, slope, over;

  bool whole() const { return slope % over == 0; }
};

/// A rational straight line in x^degree through two points; nearest whole number, never below 0.
struct PowerLine {
  SizeAt low = {};
  SizeAt high = {};
  int degree = 1;

  Bytes at(std::int64_t x) const;
  /// Unset where a power is too large to be reckoned with.
  std::optional<Terms> terms() const;
};

/// x^degree; unset above 2^62.
std::optional<LawWide> raised_to(std::int64_t x, int degree);
/// The nearest whole number to a fraction, its denominator above 0: within 0 and 2^62.
Bytes nearest_size(LawWide numerator, LawWide denominator);

}  // namespace memreplay
