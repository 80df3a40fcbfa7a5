#include "strategy/free_list.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/range_set.hpp"
#include "strategy/handle_table.hpp"
#include "strategy/regions.hpp"

namespace memreplay {
namespace {

struct FreeListOptions {
  bool best_fit = false;
  bool split = true;
  Bytes align = 1;
};

/// A request costs O(log n); first fit also tries, by address, the free blocks of less than twice
/// its size.
class FreeList final : public Strategy {
 public:
  FreeList(const FreeListOptions& options, DeviceModel& device)
      : options_(options), device_(&device) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    auto copy = std::make_unique<FreeList>(*this);
    copy->device_ = &device;
    return copy;
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Bytes size = round_up(request.size, options_.align);
    const Bytes alignment = std::max(options_.align, request.alignment);
    if (size < request.size) return std::nullopt;
    auto block =
        options_.best_fit ? free_.smallest(size, alignment) : free_.lowest(size, alignment);
    if (!block) block = grow(size, alignment);
    if (!block) return std::nullopt;
    AddressRange given{round_up(block->from, alignment), block->to};
    if (options_.split) {
      given.to = given.from + size;
      free_.erase(given);
    } else {
      free_.erase(*block);
    }
    live_bytes_ += given.size();
    return Placement{given.from, given.size(),
                     blocks_.add({given.from, given.size(), request.size})};
  }

  void free(Handle handle) override {
    const PlacedBlock block = blocks_.remove(handle);
    live_bytes_ -= block.size;
    const auto region = std::prev(regions_.upper_bound(block.address));
    AddressRange range{block.address, block.address + block.size};
    if (options_.split) {
      // Neighbours join, but never over the border of a region.
      const auto join = [&](std::optional<AddressRange> neighbour) {
        if (!neighbour) return;
        free_.erase(*neighbour);
        range = {std::min(range.from, neighbour->from), std::max(range.to, neighbour->to)};
      };
      if (range.from > region->first) join(free_.at(range.from - 1));
      if (range.to < region->second) join(free_.at(range.to));
    } else {
      range.from = region->first;
    }
    free_.insert(range);
  }

  void empty_cache() override {
    std::erase_if(regions_, [&](const auto& region) {
      if (!(free_.at(region.first) == AddressRange{region.first, region.second})) return false;
      free_.erase({region.first, region.second});
      held_bytes_ -= region.second - region.first;
      device_->give_back(region.first);
      return true;
    });
  }

  FreeSpace free_space() const override {
    return {.total = held_bytes_ - live_bytes_, .largest = free_.largest()};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const auto& [from, to] : free_.ranges()) ranges.push_back({from, to});
    return ranges;
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& [from, to] : regions_) {
      regions.push_back({.address = from, .size = to - from, .blocks = {}});
    }
    return tiled(std::move(regions), blocks_.blocks());
  }

 private:
  std::optional<AddressRange> grow(Bytes size, Bytes alignment) {
    const auto region = obtain_aligned(*device_, size, alignment);
    if (!region) return std::nullopt;
    const AddressRange range{region->address, region->address + region->size};
    regions_.emplace(range.from, range.to);
    held_bytes_ += range.size();
    free_.insert(range);
    return range;
  }

  FreeListOptions options_;
  DeviceModel* device_;
  std::map<Address, Address> regions_;  ///< from -> to
  RangeSet free_{RangeSet::Neighbours::stay_apart};
  HandleTable<PlacedBlock> blocks_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  constexpr std::string_view kFits[] = {"first", "best"};
  FreeListOptions options;
  options.best_fit = choice_option(spec, "fit", kFits, 0) == 1;
  options.split = bool_option(spec, "split", true);
  options.align = alignment_option(spec, "align", 1);
  return std::make_unique<FreeList>(options, context.device);
}

}  // namespace

StrategyInfo free_list_strategy() {
  return {.name = "free-list",
          .summary = "The textbook allocator: free blocks in a list by address, neighbours join.",
          .options = {{"fit", "first|best", "first",
                       "Which free block serves: the lowest that fits, or the smallest."},
                      {"split", "true|false", "true",
                       "Cut free blocks to size; false: they are used whole and never join."},
                      {"align", "SIZE", "1", "Sizes and addresses are multiples of it."}},
          .make = make,
          .scales = true};
}

}  // namespace memreplay
