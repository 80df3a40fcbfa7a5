#pragma once

#include <algorithm>
#include <vector>

#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// A range of whole pages.
struct PageRange : Chunk {
  Address region = 0;  ///< as the device gave it
};

/// Whole pages for allocators that cut them up: the smallest free range that is large enough, the
/// lowest of equals, cut exactly; neighbours in a region join. O(1) a call, O(log regions) where a
/// region comes or goes.
class PageHeap {
 public:
  explicit PageHeap(Bytes page) : page_(page) {}

  Bytes held() const { return held_; }  ///< in pages that can be used
  Address address(Handle range) const { return ranges_[range].address; }
  Bytes size(Handle range) const { return ranges_[range].size; }

  /// What must be found free for a range at such an address.
  Bytes room_for(Bytes size, Bytes alignment) const {
    return alignment > page_ ? size + alignment - page_ : size;
  }

  /// Sizes are in whole pages. kNoHandle: there is no such range.
  Handle take(Bytes size, Bytes alignment = 1) {
    const auto found = free_.lower_bound(room_for(size, alignment));
    if (found.at_end()) return kNoHandle;
    Handle range = free_[found].block;
    free_bytes_ -= free_[found].size;
    free_.erase(found);
    if (const Bytes low = round_up(address(range), alignment) - address(range); low != 0) {
      const Handle upper = ranges_.split(range, low);
      list(range);
      range = upper;
    }
    if (ranges_[range].size > size) list(ranges_.split(range, size));
    ranges_[range].in_use = true;
    return range;
  }

  /// Returns the range as it is now, joined with its free neighbours.
  Handle put(Handle range) {
    ranges_[range].in_use = false;
    range = ranges_.join_neighbours(range, [&](Handle neighbour) {
      if (ranges_[neighbour].in_use) return false;
      unlist(neighbour);
      return true;
    });
    list(range);
    return range;
  }

  /// A region of whole pages, as one free range.
  bool grow(Bytes size, DeviceModel& device) {
    const auto region = obtain_aligned(device, size, page_);
    if (!region) return false;
    PageRange range;
    range.region = region->address;
    list(ranges_.add_region(region->aligned, size, range));
    held_ += size;
    return true;
  }

  /// A region of at least `wanted`; on refusal of what is needed alone, after idle regions went
  /// back.
  bool grow_for(Bytes needed, Bytes wanted, StrategyUsage& usage, DeviceModel& device) {
    if (grow(std::max(needed, wanted), device)) return true;
    ++usage.oom_retries;
    give_back_idle_regions(device);
    return grow(needed, device);
  }

  bool is_idle_region(Handle range) const {
    return ranges_[range].size != 0 && !ranges_[range].in_use && ranges_.fills_region(range);
  }
  void give_back(Handle idle_region, DeviceModel& device) {
    unlist(idle_region);
    held_ -= ranges_[idle_region].size;
    device.give_back(ranges_[idle_region].region);
    ranges_.remove_region(idle_region);
  }
  void give_back_idle_regions(DeviceModel& device) {
    std::vector<Handle> idle;
    for (const auto& [address, first] : ranges_.regions()) {
      if (is_idle_region(first)) idle.push_back(first);
    }
    for (const Handle region : idle) give_back(region, device);
  }

  Bytes largest_free() const { return free_.largest(); }
  void add_free_ranges(std::vector<AddressRange>& ranges) const {
    free_.for_each([&](const FreeBlock& free) {
      ranges.push_back({address(free.block), address(free.block) + free.size});
    });
  }
  Bytes free_bytes() const { return free_bytes_; }
  std::vector<SegmentInfo> regions() const {
    std::vector<SegmentInfo> regions;
    for (const auto& [address, first] : ranges_.regions()) {
      Bytes size = 0;
      for (Handle at = first; at != kNoHandle; at = ranges_[at].above) size += ranges_[at].size;
      regions.push_back({.address = address, .size = size, .blocks = {}});
    }
    return regions;
  }

 private:
  void list(Handle range) {
    free_.insert({size(range), address(range), range});
    free_bytes_ += size(range);
  }
  void unlist(Handle range) {
    free_.erase(FreeBlock{size(range), address(range), range});
    free_bytes_ -= size(range);
  }

  Bytes page_;
  ChunkTable<PageRange> ranges_;
  FreeBlocks free_;
  Bytes held_ = 0;
  Bytes free_bytes_ = 0;
};

}  // namespace memreplay
