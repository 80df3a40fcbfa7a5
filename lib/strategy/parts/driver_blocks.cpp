#include "strategy/parts/driver_blocks.hpp"

#include <stdexcept>

#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"

namespace memreplay {
namespace {

struct Block {
  Address address = 0;
  Bytes size = 0;  ///< as charged; 0: there is no block
  Bytes requested = 0;
  StreamIndex stream = 0;
};

/// A block is its own region; what lies between blocks is the driver's secret. O(1) an event beside
/// the driver's calls.
class OfTheDriver final : public Strategy, private Prefetch {
 public:
  OfTheDriver(DriverAllocator& driver, const DriverAllocatorOptions& options) : driver_(&driver) {
    driver.open(options);
  }

  std::unique_ptr<Strategy> clone(DeviceModel&) const override {
    throw std::logic_error("the blocks of a driver cannot be copied");
  }

  std::optional<Placement> allocate(const Request& request) override {
    const auto block = driver_->allocate(request.size, request.alignment, request.stream);
    if (!block) return std::nullopt;
    return Placement{block->address, block->size,
                     blocks_.add({block->address, block->size, request.size, request.stream})};
  }

  /// In the order of the stream that asked for it, whoever gives it back.
  void free(Handle handle, FreeOrigin) override {
    const Block block = blocks_.remove(handle);
    driver_->free(block.address, block.stream);
  }

  void empty_cache() override { driver_->trim(); }
  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override { return {}; }
  std::vector<AddressRange> free_ranges() const override { return {}; }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> placed;
    for (const Block& block : blocks_.blocks()) {
      if (block.size == 0) continue;
      regions.push_back(
          {.address = block.address, .size = block.size, .stream = block.stream, .blocks = {}});
      placed.push_back({block.address, block.size, block.requested});
    }
    return tiled(std::move(regions), placed);
  }

 private:
  DriverAllocator* driver_;
  HandleTable<Block> blocks_;
};

}  // namespace

bool driver_has(const StrategyContext& context, DriverAllocatorOptions::Kind kind) {
  const DriverAllocator* driver = context.device.driver_allocator();
  return !context.wrapped && driver != nullptr && driver->has(kind);
}

std::unique_ptr<Strategy> make_driver_blocks(DeviceModel& device,
                                             const DriverAllocatorOptions& options) {
  return std::make_unique<OfTheDriver>(*device.driver_allocator(), options);
}

}  // namespace memreplay
