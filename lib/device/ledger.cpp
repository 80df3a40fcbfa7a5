#include "device/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace memreplay {
namespace {

/// The entry of a map from -> to that holds a byte of [from, to), or the end.
std::map<Address, Address>::const_iterator overlapping(const std::map<Address, Address>& ranges,
                                                       Address from, Address to) {
  const auto next = ranges.lower_bound(from);
  if (next != ranges.begin() && std::prev(next)->second > from) return std::prev(next);
  return next != ranges.end() && next->first < to ? next : ranges.end();
}

}  // namespace

void Ledger::fail(std::string_view rule, Address from, Address to) const {
  throw AuditError(fmt::format("strategy '{}', event {}: {}: [{:#x}, {:#x})", strategy_, event_,
                               rule, from, to));
}

bool Ledger::given(Address from, Address to) const {
  auto region = overlapping(regions_, from, to);
  if (region != regions_.end()) {
    if (region->first > from) return false;
    while (region->second < to) {
      if (!regions_join_) return false;
      const Address end = region->second;
      if (++region == regions_.end() || region->first != end) return false;
    }
    return true;
  }
  const auto run = mapped_.at(from);
  return run && to <= run->to;
}

void Ledger::check_unused(AddressRange range) {
  for (auto block = overlapping(live_, range.from, range.to);
       block != live_.end() && block->first < range.to; ++block) {
    const bool pending = std::any_of(pending_.begin(), pending_.end(), [&](const auto& waiting) {
      return waiting.second == block->first;
    });
    if (!pending)
      fail("memory was returned to the device under a live block", block->first, block->second);
    returned_early_ = {block->first, block->second};
  }
}

void Ledger::begin(std::uint64_t event) {
  event_ = event;
  if (returned_early_) {
    fail("memory was returned to the device while a stream used it", returned_early_->from,
         returned_early_->to);
  }
}

void Ledger::synchronised() {
  returned_early_.reset();
  for (const auto& [handle, from] : pending_) {
    live_.erase(from);
    completed_early_.insert(handle);
  }
  pending_.clear();
}

void Ledger::region_given(Address region, Bytes size) { regions_[region] = region + size; }

void Ledger::region_taken_back(Address region) {
  const auto held = regions_.find(region);
  if (held == regions_.end()) fail("a region was returned that is not held", region, region);
  check_unused({held->first, held->second});
  regions_.erase(held);
}

void Ledger::mapped(Address at, Bytes size) { mapped_.insert({at, at + size}); }

void Ledger::unmapped(Address at, Bytes size) {
  check_unused({at, at + size});
  if (!mapped_.erase({at, at + size}))
    fail("addresses were unmapped that are not mapped", at, at + size);
}

void Ledger::placed(std::uint64_t event, const Request& request, const Placement& placement) {
  begin(event);
  const Address from = placement.address;
  const Address to = from + placement.size;
  if (placement.size < request.size || to < from) {
    fail(fmt::format("a block is smaller than the {} bytes asked for", request.size), from, to);
  }
  if (request.alignment != 0 && from % request.alignment != 0) {
    fail(fmt::format("a block is not aligned to {} bytes", request.alignment), from, to);
  }
  if (!given(from, to)) fail("a block lies outside what the device gave", from, to);
  if (const auto other = overlapping(live_, from, to); other != live_.end()) {
    fail(fmt::format("a block overlaps the live block [{:#x}, {:#x})", other->first, other->second),
         from, to);
  }
  live_.emplace(from, to);
}

void Ledger::check_live(const Placement& placement) const {
  const auto block = live_.find(placement.address);
  if (block == live_.end() || block->second != placement.address + placement.size) {
    fail("a block was freed that is not live", placement.address,
         placement.address + placement.size);
  }
}

void Ledger::free_requested(std::uint64_t event, const Placement& placement) {
  begin(event);
  check_live(placement);
  if (!pending_.emplace(placement.handle, placement.address).second) {
    fail("the free of a block was requested twice", placement.address,
         placement.address + placement.size);
  }
}

void Ledger::freed(std::uint64_t event, const Placement& placement) {
  begin(event);
  if (completed_early_.erase(placement.handle) != 0) return;
  check_live(placement);
  live_.erase(placement.address);
  pending_.erase(placement.handle);
}

std::optional<Address> AuditedDevice::obtain(Bytes size) {
  const auto region = DeviceWrapper::obtain(size);
  if (region) ledger_->region_given(*region, size);
  return region;
}

void AuditedDevice::give_back(Address region) {
  ledger_->region_taken_back(region);
  DeviceWrapper::give_back(region);
}

void AuditedDevice::adopt(Address region, Bytes size, bool mapped) {
  DeviceWrapper::adopt(region, size, mapped);
  if (mapped) {
    ledger_->mapped(region, size);
  } else {
    ledger_->region_given(region, size);
  }
}

bool AuditedDevice::map(Address at, Bytes size, Bytes granule) {
  const bool granted = DeviceWrapper::map(at, size, granule);
  if (granted) ledger_->mapped(at, size);
  return granted;
}

void AuditedDevice::unmap(Address at, Bytes size) {
  ledger_->unmapped(at, size);
  DeviceWrapper::unmap(at, size);
}

}  // namespace memreplay
