#include "strategy/parts/regions.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memreplay {

std::optional<AlignedRegion> obtain_aligned(DeviceModel& device, Bytes size, Bytes alignment) {
  auto region = device.obtain(size);
  if (region && *region % alignment != 0) {
    device.give_back(*region);
    const Bytes longer = size + alignment - 1;
    region = longer < size ? std::nullopt : device.obtain(longer);
    size = longer;
  }
  if (!region) return std::nullopt;
  return AlignedRegion{*region, size, round_up(*region, alignment)};
}

MemoryState together(std::vector<MemoryState> parts) {
  MemoryState whole;
  for (MemoryState& part : parts) {
    std::move(part.segments.begin(), part.segments.end(), std::back_inserter(whole.segments));
  }
  std::ranges::sort(whole.segments, {}, &SegmentInfo::address);
  return whole;
}

MemoryState tiled(std::vector<SegmentInfo> regions, const std::vector<PlacedBlock>& blocks) {
  std::vector<PlacedBlock> live;
  std::copy_if(blocks.begin(), blocks.end(), std::back_inserter(live),
               [](const PlacedBlock& block) { return block.size != 0; });
  std::sort(live.begin(), live.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  auto next = live.begin();
  for (SegmentInfo& region : regions) {
    const Address end = region.address + region.size;
    Address at = region.address;
    const auto fill = [&](Address to) {
      if (at < to) region.blocks.push_back({.address = at, .size = to - at});
    };
    for (; next != live.end() && next->address < end; ++next) {
      fill(next->address);
      region.blocks.push_back({.address = next->address,
                               .size = next->size,
                               .requested = next->requested,
                               .state = BlockState::allocated});
      at = next->address + next->size;
    }
    fill(end);
  }
  return {std::move(regions)};
}

}  // namespace memreplay
