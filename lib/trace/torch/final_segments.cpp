#include "trace/torch/final_segments.hpp"

#include <algorithm>

#include "core/units.hpp"

namespace memreplay {
namespace {

using Dropped = std::map<std::string, std::uint64_t>;

bool has_room(const TorchSegment& segment) {
  return segment.size > 0 && segment.size < kMostBytes &&
         segment.address + segment.size >= segment.address;
}

void tile(TorchSegment& segment, Dropped& dropped) {
  const Address end = segment.address + segment.size;
  Address at = segment.address;
  std::vector<TorchBlock> tiles;
  tiles.reserve(segment.blocks.size());
  const auto fill_up_to = [&](Address to) {
    if (to == at) return;
    tiles.push_back({.address = at, .size = to - at, .state = BlockState::free});
    ++dropped["gaps between the blocks of a segment"];
  };
  for (TorchBlock& block : segment.blocks) {
    if (block.address < at || block.address >= end || block.size == 0 ||
        block.size > end - block.address) {
      ++dropped["blocks outside their segment or over another"];
      continue;
    }
    if (block.state != BlockState::free && block.requested > block.size) {
      block.requested = block.size;
      ++dropped["parts of requests that are larger than their block"];
    }
    fill_up_to(block.address);
    at = block.address + block.size;
    tiles.push_back(block);
  }
  fill_up_to(end);
  segment.blocks = std::move(tiles);
}

}  // namespace

std::vector<TorchSegment> final_segments(const TorchSnapshot& snapshot, int device,
                                         Dropped& dropped) {
  std::vector<TorchSegment> of_device, kept;
  std::ranges::copy_if(snapshot.segments, std::back_inserter(of_device),
                       [&](const TorchSegment& segment) { return segment.device == device; });
  std::ranges::stable_sort(of_device, {}, &TorchSegment::address);
  kept.reserve(of_device.size());
  Address end = 0;
  for (TorchSegment& segment : of_device) {
    if (!has_room(segment)) {
      ++dropped["segments without a size"];
    } else if (segment.address < end) {
      ++dropped["segments over others"];
    } else {
      end = segment.address + segment.size;
      tile(segment, dropped);
      kept.push_back(std::move(segment));
    }
  }
  return kept;
}

}  // namespace memreplay
