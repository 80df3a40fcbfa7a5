#include <algorithm>

#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct Block {
  AlignedRegion region;  ///< size 0: there is no block
  Bytes requested = 0;
};

/// What a program without any allocator of its own does. O(1) an event beside the device's calls.
class Direct final : public StrategyOn<Direct> {
 public:
  explicit Direct(DeviceModel& device) : StrategyOn(device) {}

  std::optional<Placement> allocate(const Request& request) override {
    const auto region =
        obtain_aligned(*device_, request.size, std::max<Bytes>(request.alignment, 1));
    if (!region) return std::nullopt;
    padding_ += region->size - request.size;
    return Placement{region->aligned, request.size, blocks_.add({*region, request.size})};
  }

  void free(Handle handle, FreeOrigin) override {
    const Block block = blocks_.remove(handle);
    padding_ -= block.region.size - block.requested;
    device_->give_back(block.region.address);
  }

  /// What alignment left over serves nobody.
  FreeSpace free_space() const override { return {.total = padding_, .largest = 0}; }

  std::vector<AddressRange> free_ranges() const override { return {}; }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> placed;
    for (const Block& block : blocks_.blocks()) {
      if (block.region.size == 0) continue;
      regions.push_back({.address = block.region.address, .size = block.region.size, .blocks = {}});
      placed.push_back({block.region.aligned, block.requested, block.requested});
    }
    return tiled(std::move(regions), placed);
  }

 private:
  HandleTable<Block> blocks_;
  Bytes padding_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec&, const StrategyContext& context) {
  return std::make_unique<Direct>(context.device);
}

}  // namespace

/// Every request is a region of its own: what memory costs without any caching.
StrategyInfo direct_strategy() {
  return {.name = "direct",
          .summary = "Every request goes to the device, every free returns it: no caching at all.",
          .options = {},
          .make = make,
          .scales = true,
          .known_as = {{"nocaching"}, {"nocache"}, {"none"}},
          .presets = {{"", 1, 1}}};
}

}  // namespace memreplay
