#include "extensions/hybrid/arena_device.hpp"

#include <algorithm>

namespace memreplay {
namespace {

/// Regions begin at multiples of it, as a device's own do.
constexpr Bytes kUnit = 2 * kMiB;

}  // namespace

bool ArenaDevice::open() {
  if (base_) return true;
  base_ = device_->obtain(size_);
  if (base_) holes_.insert({*base_, *base_ + size_});
  return base_.has_value();
}

std::optional<Address> ArenaDevice::obtain(Bytes size) {
  const auto hole = size <= size_ && open() ? holes_.lowest(size, kUnit) : std::nullopt;
  if (!hole) {
    ++usage_.refusals;
    return std::nullopt;
  }
  const Address from = round_up(hole->from, kUnit);
  const Address to = std::min(round_up(from + size, kUnit), hole->to);
  holes_.erase({from, to});
  regions_.emplace(from, to);
  ++usage_.allocs;
  usage_.held += to - from;
  usage_.peak_held = std::max(usage_.peak_held, usage_.held);
  usage_.peak_regions = std::max(usage_.peak_regions, ++usage_.regions);
  return from;
}

void ArenaDevice::give_back(Address region) {
  const auto held = regions_.find(region);
  holes_.insert({held->first, held->second});
  ++usage_.frees;
  --usage_.regions;
  usage_.held -= held->second - held->first;
  regions_.erase(held);
}

}  // namespace memreplay
