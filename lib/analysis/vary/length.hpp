#pragma once

#include <cstdint>
#include <map>
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

}  // namespace memreplay
