#include "extensions/planner/planned_region.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"

namespace memreplay {

std::optional<PlacedBlock> PlannedRegion::take(const Request& request, DeviceModel& device) {
  if (dynamic_) {
    const auto block = place_dynamically(request, device);
    dynamic_served_ += block ? 1 : 0;
    dynamic_served_bytes_ += block ? request.size : 0;
    return block;
  }
  const auto block = place(request, device);
  (block ? served_ : missed_) += 1;
  (block ? served_bytes_ : missed_bytes_) += request.size;
  return block;
}

std::optional<PlacedBlock> PlannedRegion::place(const Request& request, DeviceModel& device) {
  if (next_ == plan_->entries.size()) next_ = plan_->repeats_from;
  if (next_ >= plan_->entries.size()) return std::nullopt;
  const Plan::Entry& entry = plan_->entries[next_++];
  if (!entry.placed || entry.size != request.size || !obtain(device)) return std::nullopt;
  const Address from = region_->aligned + entry.offset;
  const Bytes size = round_up(request.size, plan_->alignment);
  if (request.alignment != 0 && from % request.alignment != 0) return std::nullopt;
  const auto above = live_.lower_bound(entry.offset);
  if (!above.at_end() && live_[above].size < entry.offset + size) return std::nullopt;
  const auto below = live_.previous(above);
  if (!below.at_end() && live_[below].size + live_[below].rank > entry.offset) return std::nullopt;
  return hold(entry.offset, request.size);
}

// The smallest piece that serves, of equal ones the lowest.
std::optional<PlacedBlock> PlannedRegion::place_dynamically(const Request& request,
                                                            DeviceModel& device) {
  if (*dynamic_ >= plan_->regions.size() || request.size > plan_->height || !obtain(device)) {
    return std::nullopt;
  }
  const Bytes size = round_up(request.size, plan_->alignment);
  const Bytes alignment = std::max(plan_->alignment, request.alignment);
  std::optional<Bytes> best;
  Bytes smallest = UINT64_MAX;
  const auto look_at = [&](Bytes from, Bytes to) {
    const Bytes at = round_up(region_->aligned + from, alignment) - region_->aligned;
    if (from >= to || at + size > to || to - from >= smallest) return;
    smallest = to - from;
    best = at;
  };
  for (const Plan::Range& range : plan_->regions[*dynamic_]) {
    auto above = live_.lower_bound(range.from);
    const auto below = live_.previous(above);
    Bytes at = range.from;
    if (!below.at_end()) at = std::max(at, live_[below].size + live_[below].rank);
    for (; !above.at_end() && live_[above].size < range.to; above = live_.next(above)) {
      look_at(at, live_[above].size);
      at = live_[above].size + live_[above].rank;
    }
    look_at(at, range.to);
  }
  if (!best) return std::nullopt;
  return hold(*best, request.size);
}

bool PlannedRegion::obtain(DeviceModel& device) {
  if (region_) return true;
  region_ = obtain_aligned(device, plan_->height, plan_->base_alignment);
  if (region_) add_gap({region_->address, region_->address + region_->size});
  refused_ = !region_;
  return !refused_;
}

AddressRange PlannedRegion::gap_at(Bytes offset) const {
  const auto above = live_.lower_bound(offset);
  const auto below = live_.previous(above);
  const Address end = region_->address + region_->size;
  return {
      below.at_end() ? region_->address : region_->aligned + live_[below].size + live_[below].rank,
      above.at_end() ? end : region_->aligned + live_[above].size};
}

void PlannedRegion::add_gap(AddressRange gap) {
  if (gap.size() != 0) gaps_.insert({.size = gap.size(), .rank = gap.from, .block = 0});
}

void PlannedRegion::drop_gap(AddressRange gap) {
  if (gap.size() != 0) gaps_.erase(FreeBlock{gap.size(), gap.from, 0});
}

PlacedBlock PlannedRegion::hold(Bytes offset, Bytes requested) {
  const Bytes size = round_up(requested, plan_->alignment);
  const Address from = region_->aligned + offset;
  const AddressRange gap = gap_at(offset);
  drop_gap(gap);
  add_gap({gap.from, from});
  add_gap({from + size, gap.to});
  live_.insert({.size = offset, .rank = size, .block = 0});
  live_bytes_ += size;
  return {from, size, requested};
}

void PlannedRegion::release(const PlacedBlock& block) {
  live_.erase(FreeBlock{block.address - region_->aligned, block.size, 0});
  live_bytes_ -= block.size;
  const AddressRange gap = gap_at(block.address - region_->aligned);
  drop_gap({gap.from, block.address});
  drop_gap({block.address + block.size, gap.to});
  add_gap(gap);
}

void PlannedRegion::marker() {
  const std::size_t mark = marks_++;
  switch (mark < plan_->marks.size() ? plan_->marks[mark] : PlanMark::iteration) {
    case PlanMark::iteration:
      return begin_iteration();
    case PlanMark::region_begins:
      return begin_region();
    case PlanMark::region_ends:
      return dynamic_.reset();
    case PlanMark::phase:
    case PlanMark::other:
      return;
  }
}

void PlannedRegion::begin_iteration() {
  dynamic_.reset();
  const std::size_t iteration = iterations_++;
  const auto first = [&](const std::vector<std::size_t>& firsts, std::size_t& next) {
    if (!firsts.empty()) next = firsts[std::min(iteration, firsts.size() - 1)];
  };
  first(plan_->iterations, next_);
  first(plan_->regions_from, next_region_);
}

void PlannedRegion::begin_region() { dynamic_ = next_region_++; }

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
  return {.total = region_->size - live_bytes_, .largest = gaps_.largest(), .obtainable = 0};
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
