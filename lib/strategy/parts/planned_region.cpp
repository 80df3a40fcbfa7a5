#include "strategy/parts/planned_region.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {

std::optional<PlacedBlock> PlannedRegion::take(const Request& request, DeviceModel& device) {
  const auto block = place(request, device);
  (block ? served_ : missed_) += 1;
  (block ? served_bytes_ : missed_bytes_) += request.size;
  return block;
}

std::optional<PlacedBlock> PlannedRegion::place(const Request& request, DeviceModel& device) {
  if (next_ == plan_->entries.size()) next_ = plan_->repeats_from;
  if (next_ >= plan_->entries.size()) return std::nullopt;
  const Plan::Entry& entry = plan_->entries[next_++];
  if (!entry.placed || entry.size != request.size) return std::nullopt;
  if (!region_) region_ = obtain_aligned(device, plan_->height, plan_->base_alignment);
  refused_ = !region_;
  if (refused_) return std::nullopt;
  const Address from = region_->aligned + entry.offset;
  const Address to = from + round_up(request.size, plan_->alignment);
  if (request.alignment != 0 && from % request.alignment != 0) return std::nullopt;
  const auto above = live_.lower_bound(entry.offset);
  if (!above.at_end() && live_[above].size < entry.offset + (to - from)) return std::nullopt;
  const auto below = live_.previous(above);
  if (!below.at_end() && live_[below].size + live_[below].rank > entry.offset) return std::nullopt;
  live_.insert({.size = entry.offset, .rank = to - from, .block = 0});
  live_bytes_ += to - from;
  return PlacedBlock{from, to - from, request.size};
}

void PlannedRegion::release(const PlacedBlock& block) {
  live_.erase(FreeBlock{block.address - region_->aligned, block.size, 0});
  live_bytes_ -= block.size;
}

void PlannedRegion::marker() {
  const auto& iterations = plan_->iterations;
  if (iterations.empty()) return;
  next_ = iterations[std::min(markers_++, iterations.size() - 1)];
}

std::vector<AddressRange> PlannedRegion::free_ranges() const {
  std::vector<AddressRange> ranges;
  if (!region_) return ranges;
  Address at = region_->address;
  const auto fill = [&](Address to) {
    if (at < to) ranges.push_back({at, to});
  };
  live_.for_each([&](const FreeBlock& block) {
    fill(region_->aligned + block.size);
    at = region_->aligned + block.size + block.rank;
  });
  fill(region_->address + region_->size);
  return ranges;
}

FreeSpace PlannedRegion::free_space() const {
  if (!region_) return {};
  FreeSpace space{.total = region_->size - live_bytes_, .obtainable = 0};
  for (const AddressRange range : free_ranges()) {
    space.largest = std::max(space.largest, range.size());
  }
  return space;
}

std::vector<std::string> PlannedRegion::remarks() const {
  std::vector<std::string> remarks;
  if (!plan_->shortened.empty()) remarks.push_back(plan_->shortened);
  if (refused_) {
    remarks.push_back(fmt::format("the plan needs {} in one piece, which the device refuses",
                                  human_size(plan_->height)));
  }
  return remarks;
}

}  // namespace memreplay
