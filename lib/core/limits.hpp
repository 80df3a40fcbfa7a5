#pragma once

#include "core/units.hpp"

namespace memreplay {

/// 1 EiB: a request of so much is refused by PyTorch before anything else.
inline constexpr Bytes kMostBytes = Bytes{1} << 60;

/// 4 EiB: more than any device has, or any recording comes to. Below it sums and rounding up of
/// sizes do not overflow.
inline constexpr Bytes kBeyondDevices = Bytes{1} << 62;

}  // namespace memreplay
