#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// a b, at most 2^62.
Bytes bounded_product(Bytes a, Bytes b);

/// A whole number that follows from a parameter x, as a factor of sizes:
/// ⌊(times x + plus) / by⌋^power + more.
struct Length {
  std::int64_t plus = 0;
  std::int64_t by = 1;    ///< by how much layers made it smaller
  int power = 1;          ///< 2 where x is the side of an image
  std::int64_t more = 0;  ///< tokens that stand for none of its parts
  std::int64_t times = 1;

  /// 0 where it would be below; never above 2^62.
  Bytes at(std::int64_t x) const;
  /// Divided by what strides and patches are, with one more at most.
  bool is_usual() const;

  friend bool operator==(const Length&, const Length&) = default;
};

/// The lengths that sizes may be in proportion to, by how they grow from value to value.
class Lengths {
 public:
  /// `values` of the parameter, ascending, two at least. Some thousand steps.
  explicit Lengths(const std::vector<std::int64_t>& values);

  /// The lengths to which the sizes, one for each value, are exactly proportional; the plainest
  /// first.
  std::span<const Length> of(std::span<const Bytes> sizes) const;

 private:
  void add(const Length& length);

  std::vector<std::int64_t> values_;
  std::map<std::vector<Bytes>, std::vector<Length>> by_growth_;  ///< without common divisor
};

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
