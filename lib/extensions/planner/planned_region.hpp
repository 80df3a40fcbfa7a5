#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.hpp"
#include "core/request.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// The region of a plan, obtained with the first request that has a place in it. Requests come in
/// the plan's order. O(1) to O(log live) a call.
class PlannedRegion {
 public:
  explicit PlannedRegion(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}

  /// The next request of the plan, or within a dynamic region the best fit in what is free there.
  /// Unset where it is another than was planned, where its place is taken or where the device has
  /// no room for the region.
  std::optional<PlacedBlock> take(const Request& request, DeviceModel& device);
  void release(const PlacedBlock& block);
  /// An iteration begins: the next request is its first.
  void marker();

  const Plan& plan() const { return *plan_; }
  const std::optional<AlignedRegion>& region() const { return region_; }
  std::vector<AddressRange> free_ranges() const;
  FreeSpace free_space() const;

  /// The device has no room for the region.
  bool refused() const { return refused_; }
  /// Sentences about the plan and its region: where it was cut short, where there is no room.
  std::vector<std::string> remarks() const;
  std::uint64_t served() const { return served_; }
  Bytes served_bytes() const { return served_bytes_; }
  std::uint64_t missed() const { return missed_; }
  Bytes missed_bytes() const { return missed_bytes_; }
  std::uint64_t dynamic_served() const { return dynamic_served_; }
  Bytes dynamic_served_bytes() const { return dynamic_served_bytes_; }

 private:
  std::optional<PlacedBlock> place(const Request& request, DeviceModel& device);
  std::optional<PlacedBlock> place_dynamically(const Request& request, DeviceModel& device);
  bool obtain(DeviceModel& device);
  PlacedBlock hold(Bytes offset, Bytes requested);
  /// What is free between the live blocks around this offset.
  AddressRange gap_at(Bytes offset) const;
  void add_gap(AddressRange gap);
  void drop_gap(AddressRange gap);
  void begin_iteration();
  void begin_region();

  std::shared_ptr<const Plan> plan_;
  std::optional<AlignedRegion> region_;
  FreeBlocks live_;       ///< blocks by offset: `size` is it, `rank` the bytes
  FreeBlocks gaps_;       ///< what is free of the region, by size and address
  std::size_t next_ = 0;  ///< entry
  std::size_t marks_ = 0;
  std::size_t iterations_ = 0;
  std::size_t next_region_ = 0;
  std::optional<std::size_t> dynamic_;  ///< the dynamic region at hand
  bool refused_ = false;
  Bytes live_bytes_ = 0;
  std::uint64_t served_ = 0;
  Bytes served_bytes_ = 0;  ///< requested
  std::uint64_t missed_ = 0;
  Bytes missed_bytes_ = 0;  ///< requested
  std::uint64_t dynamic_served_ = 0;
  Bytes dynamic_served_bytes_ = 0;  ///< requested
};

}  // namespace memreplay
