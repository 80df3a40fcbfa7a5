#pragma once

#include <optional>

#include "program/places.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/moment.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {

/// The addresses that x86-64 leaves a process, 47 bits: those of a device are of the same space, on
/// all devices of the process together.
inline constexpr Bytes kProcessAddresses = Bytes{1} << 47;

/// The addresses of PyTorch's expandable segments: each reserves addresses for the whole device and
/// an eighth, one or more for each stream, pool and kind of block. `total`: the device. Other
/// devices of the recording count as at its end, as if they were as large. Unset where the memory
/// holds none. O(blocks).
std::optional<AddressUse> address_use(const Recording& recording, const Trace& trace,
                                      const Moment& moment, const torch::Settings& settings,
                                      Bytes total);

/// What a refused request of `size` bytes, as rounded, would have reserved: its lane has no
/// reservation, or in none is a stretch of addresses as long. Unset where it needed none, or is
/// served by plain segments.
std::optional<Bytes> reservation_for(StreamPool lane, Bytes size, const Moment& moment,
                                     const torch::Settings& settings, Bytes total);

/// Looks at `pool` and the default pool: other private pools keep their memory until they are
/// deleted. O(blocks log blocks). `expandable_granule`: the unit in which mapped runs give memory
/// back.
Pins pins_of(const Moment& moment, const Places& places, PoolIndex pool, Bytes expandable_granule);

}  // namespace memreplay
