#pragma once

#include <optional>
#include <vector>

#include "core/program.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"

namespace memreplay {

/// A block of a strategy that knows no more about it than its place.
struct PlacedBlock {
  Address address = 0;
  Bytes size = 0;  ///< 0: there is no block
  Bytes requested = 0;
};

/// A region, and in it the first multiple of the alignment that was asked for.
struct AlignedRegion {
  Address address = 0;
  Bytes size = 0;
  Address aligned = 0;
};

/// A region with `size` bytes from a multiple of `alignment` on. Drivers align by themselves to
/// what they document only; where that is not enough, the region is returned for a longer one.
std::optional<AlignedRegion> obtain_aligned(DeviceModel& device, Bytes size, Bytes alignment);

/// What the parts of one strategy hold, as one: segments by address.
MemoryState together(std::vector<MemoryState> parts);

/// Regions by address, tiled with the blocks and with free ones where there are none.
MemoryState tiled(std::vector<SegmentInfo> regions, const std::vector<PlacedBlock>& blocks);

}  // namespace memreplay
