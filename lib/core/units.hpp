#pragma once

#include <cstdint>

namespace memreplay {

using Bytes = std::uint64_t;
using Address = std::uint64_t;

inline constexpr Bytes kKiB = Bytes{1} << 10;
inline constexpr Bytes kMiB = Bytes{1} << 20;
inline constexpr Bytes kGiB = Bytes{1} << 30;
inline constexpr Bytes kTiB = Bytes{1} << 40;

/// The smallest multiple of `unit` (above 0) that is not below `n`; wraps as unsigned numbers do.
constexpr Bytes round_up(Bytes n, Bytes unit) { return (n + unit - 1) / unit * unit; }

}  // namespace memreplay
