#include "strategy/parts/regions.hpp"

#include <algorithm>
#include <iterator>

#include "strategy/bfc/serving.hpp"
#include "strategy/parts/backpedal.hpp"

namespace memreplay::bfc {
namespace {

constexpr Bytes kLargestRegion = Bytes{1} << 62;

}  // namespace

// Asks for `size` bytes, after a refusal for less and less; `size` becomes what the device gave.
std::optional<Address> Allocator::obtain(Bytes& size, Bytes at_least) {
  const bool may_backpedal = !(options_.backpedal_once && backpedalled_);
  for (;;) {
    if (const auto region = obtain_aligned(*device_, size, kGranule)) {
      obtained_.emplace(region->aligned, region->address);
      return region->aligned;
    }
    if (!may_backpedal) return std::nullopt;
    backpedalled_ = true;
    size = backpedalled(size, kGranule);
    if (size < at_least) return std::nullopt;
  }
}

bool Allocator::extend(Bytes size) {
  const Bytes available = (options_.limit - statistics_.pool_bytes) / kGranule * kGranule;
  if (size > available) return false;
  bool raised = false;
  while (size > next_region_) {
    next_region_ *= 2;
    raised = true;
  }
  Bytes received = std::min(next_region_, available);
  const auto region = obtain(received, size);
  if (!region) return false;
  if (!raised && next_region_ < kLargestRegion) next_region_ *= 2;
  statistics_.pool_bytes += received;
  statistics_.peak_pool_bytes = std::max(statistics_.peak_pool_bytes, statistics_.pool_bytes);
  add_region(*region, received);
  return true;
}

// The last chunk of the region that ends at this address.
Handle Allocator::last_chunk_before(Address address) const {
  const auto next = chunks_.regions().lower_bound(address);
  if (next == chunks_.regions().begin()) return kNoHandle;
  Handle last = std::prev(next)->second;
  while (chunks_[last].above != kNoHandle) last = chunks_[last].above;
  return chunks_[last].address + chunks_[last].size == address ? last : kNoHandle;
}

void Allocator::add_region(Address address, Bytes size) {
  Piece fresh;
  if (options_.spatial) fresh.tag = Tag::central_gap;
  const Handle last = options_.coalesce_regions ? last_chunk_before(address) : kNoHandle;
  Handle chunk = kNoHandle;
  if (last == kNoHandle) {
    chunk = chunks_.add_region(address, size, fresh);
  } else {
    chunk = coalesce<false>(chunks_.append(last, size, fresh), false);
  }
  insert<false>(chunk);
}

bool Allocator::in_use_anywhere(Handle first) const {
  for (Handle chunk = first; chunk != kNoHandle; chunk = chunks_[chunk].above) {
    if (chunks_[chunk].in_use) return true;
  }
  return false;
}

bool Allocator::collect_garbage(Bytes size) {
  std::vector<AddressRange> unused;
  Bytes free_bytes = 0;
  for (const auto& [address, first] : chunks_.regions()) {
    if (in_use_anywhere(first)) continue;
    Bytes bytes = 0;
    for (Handle c = first; c != kNoHandle; c = chunks_[c].above) bytes += chunks_[c].size;
    unused.push_back({address, address + bytes});
    free_bytes += bytes;
  }
  if (free_bytes == 0 || size > options_.limit - statistics_.pool_bytes + free_bytes) return false;
  for (const AddressRange region : unused) {
    const Handle first = chunks_.regions().at(region.from);
    for (Handle c = first; c != kNoHandle; c = chunks_[c].above) remove<false>(c);
    chunks_.remove_region(first);
    const auto begin = obtained_.lower_bound(region.from);
    const auto end = obtained_.lower_bound(region.to);
    for (auto at = begin; at != end; ++at) device_->give_back(at->second);
    obtained_.erase(begin, end);
    statistics_.pool_bytes -= region.size();
  }
  return true;
}

}  // namespace memreplay::bfc
