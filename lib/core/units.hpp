#pragma once

#include <cstdint>
#include <limits>

namespace memreplay {

using Bytes = std::uint64_t;
using Address = std::uint64_t;

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;
inline constexpr Bytes kTiB = Bytes{1} << 40;

/// The smallest multiple of `unit` (above 0) that is not below `n`; wraps as unsigned numbers do.
constexpr Bytes round_up(Bytes n, Bytes unit) { return (n + unit - 1) / unit * unit; }

/// 1 EiB: a request of so much is refused by PyTorch before anything else.
inline constexpr Bytes kMostBytes = Bytes{1} << 60;

/// 4 EiB: more than any device has, or any recording comes to. Below it sums and rounding up of
/// sizes do not overflow.
inline constexpr Bytes kBeyondDevices = Bytes{1} << 62;

/// The whole part of a number of bytes; none of what is below zero or no number, and as many as
/// there can be of what is beyond them.
constexpr Bytes bytes_of(double number) {
  if (!(number >= 1)) return 0;
  constexpr double kBeyond = 0x1p64;
  return number < kBeyond ? static_cast<Bytes>(number) : std::numeric_limits<Bytes>::max();
}

}  // namespace memreplay
