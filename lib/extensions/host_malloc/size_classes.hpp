#pragma once

#include <bit>
#include <cstdint>

#include "core/units.hpp"

namespace memreplay {

/// jemalloc's spacing: multiples of the quantum up to 2^(g+1) of them, then 2^g classes for each
/// doubling.
class SizeClasses {
 public:
  /// `quantum` is a power of two.
  SizeClasses(Bytes quantum, unsigned g) : quantum_log2_(log2(quantum)), g_(g) {}

  /// The size of its class; wraps to 0 beyond the last.
  Bytes rounded(Bytes size) const { return round_up(size, spacing(size)); }
  /// Its class, from 0 on. The size is above 0.
  std::uint32_t number(Bytes size) const {
    if (is_linear(size)) return static_cast<std::uint32_t>((size - 1) >> quantum_log2_);
    const unsigned doubling = static_cast<unsigned>(std::bit_width(size - 1)) - 1;
    const auto step = static_cast<std::uint32_t>(((size - 1) >> (doubling - g_)) - (1u << g_));
    return ((doubling - quantum_log2_ - g_ + 1) << g_) + step;
  }

 private:
  static unsigned log2(Bytes n) { return static_cast<unsigned>(std::countr_zero(n)); }
  bool is_linear(Bytes size) const { return (size - 1) >> quantum_log2_ >> (g_ + 1) == 0; }
  Bytes spacing(Bytes size) const {
    if (is_linear(size)) return Bytes{1} << quantum_log2_;
    return Bytes{1} << (static_cast<unsigned>(std::bit_width(size - 1)) - 1 - g_);
  }

  unsigned quantum_log2_;
  unsigned g_;
};

}  // namespace memreplay
