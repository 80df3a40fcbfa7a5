#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace memreplay {

/// Random numbers from a seed: the same everywhere, which the distributions of the library are not.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  /// In [0, 1), of 53 bits.
  double share() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// In [0, n), of n that is small beside 2^64.
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  /// In [least, most].
  std::uint64_t within(std::uint64_t least, std::uint64_t most) {
    return least + below(most - least + 1);
  }
  /// Exponential, with this mean; at most 37 times the mean.
  double exponential(double mean) { return -mean * std::log1p(-share()); }
  /// In [least, most), equally likely in each power of two. 0 < least.
  double log_uniform(double least, double most) {
    const double from = std::log2(least);
    return std::exp2(from + share() * (std::log2(most) - from));
  }
  /// Bounded Pareto: density ~ x^-(exponent + 1) in [least, most). 0 < exponent, 0 < least.
  double power(double least, double most, double exponent) {
    const double kept = 1 - std::pow(least / most, exponent);
    return least * std::pow(1 - share() * kept, -1 / exponent);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace memreplay
