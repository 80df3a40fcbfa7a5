#include "strategy/bfc/allocator.hpp"

#include <bit>
#include <iterator>
#include <utility>

#include "core/units.hpp"
#include "strategy/bfc/serving.hpp"
#include "strategy/parts/backpedal.hpp"
#include "strategy/parts/regions.hpp"

namespace memreplay::bfc {
namespace {

constexpr Bytes kLargestRegion = Bytes{1} << 62;

constexpr Bytes kDefaultSplitThreshold = 128 * kMiB;

Bytes threshold_of(const Options& options) {
  if (options.fragmentation_fraction <= 0) return kDefaultSplitThreshold;
  return bytes_of(options.fragmentation_fraction * static_cast<double>(options.limit));
}

Bytes padding(const Piece& chunk, Bytes alignment) {
  return round_up(chunk.address, alignment) - chunk.address;
}

/// Where a request from the upper end would begin; below the chunk: it has no room.
Address upper_start(const Piece& chunk, Bytes size, Bytes alignment) {
  if (chunk.size < size) return 0;
  return (chunk.address + chunk.size - size) / alignment * alignment;
}

}  // namespace

int bin_of(Bytes size) {
  return std::min(20, static_cast<int>(std::bit_width(std::max(size, kGranule) / kGranule)) - 1);
}

Allocator::Allocator(DeviceModel& device, Options options, std::vector<std::string> op_names)
    : StrategyOn(device),
      options_(std::move(options)),
      op_names_(std::move(op_names)),
      split_threshold_(std::max(threshold_of(options_), Bytes{1})),
      next_region_(rounded(options_.allow_growth ? std::min(options_.limit, options_.first_region)
                                                 : options_.limit)) {}

std::optional<Placement> Allocator::allocate(const Request& request) {
  if (request.size > kLargestRequest) return std::nullopt;
  Wanted wanted{.requested = request.size,
                .size = rounded(request.size),
                .freed_before = request.freed_before};
  if (!options_.ignore_alignment) wanted.alignment = std::max(kGranule, request.alignment);
  if (options_.spatial && request.upper_end) wanted.end = Tag::upper;

  if (!queue_.empty()) merge_what_is_safe();
  Handle found = search(wanted);
  if (found == kNoHandle && extend(wanted.size)) found = search(wanted);
  if (found == kNoHandle && wanted.freed_before == 0 && !queue_.empty() && merge_for(wanted.size)) {
    found = search(wanted);
  }
  if (found == kNoHandle && options_.garbage_collection && collect_garbage(wanted.size) &&
      extend(wanted.size)) {
    found = search(wanted);
  }
  if (found == kNoHandle) return std::nullopt;
  const Piece& chunk = chunks_[found];
  return Placement{chunk.address, chunk.size, found};
}

bool Allocator::fits(const Piece& chunk, const Wanted& wanted) const {
  if (wanted.freed_before > 0 && wanted.freed_before < chunk.freed_at) return false;
  if (wanted.end == Tag::upper) {
    return upper_start(chunk, wanted.size, wanted.alignment) >= chunk.address;
  }
  return chunk.size >= wanted.size + padding(chunk, wanted.alignment);
}

Handle Allocator::search(const Wanted& wanted) {
  const FreeBlocks& bins = bins_[wanted.end == Tag::upper];
  for (auto at = bins.lower_bound(wanted.size); !at.at_end(); at = bins.next(at)) {
    const Handle chunk = bins[at].block;
    if (!fits(chunks_[chunk], wanted)) continue;
    bins_[wanted.end == Tag::upper].erase(at);
    return take(chunk, wanted);
  }
  if (gap_ == kNoHandle || !fits(chunks_[gap_], wanted)) return kNoHandle;
  return take(std::exchange(gap_, kNoHandle), wanted);
}

Handle Allocator::take(Handle chunk, const Wanted& wanted) {
  const bool exact = chunks_[chunk].tag == Tag::central_gap || policy(wanted.end).exact;
  chunk =
      wanted.end == Tag::upper ? cut_upper(chunk, wanted, exact) : cut_lower(chunk, wanted, exact);
  chunks_[chunk].tag = wanted.end;
  hand_out(chunks_[chunk], wanted.requested);
  return chunk;
}

Handle Allocator::cut_lower(Handle chunk, const Wanted& wanted, bool exact) {
  const Tag source = chunks_[chunk].tag;
  if (const Bytes pad = padding(chunks_[chunk], wanted.alignment); pad > 0) {
    const Handle rest = split(chunk, pad, source);
    chunks_[chunk].tag = Tag::lower;
    insert<false>(chunk);
    chunk = rest;
  }
  const Bytes size = chunks_[chunk].size;
  if (size > wanted.size && (exact || should_split(size, wanted.size))) {
    insert<false>(split(chunk, wanted.size, source));
  }
  return chunk;
}

Handle Allocator::cut_upper(Handle chunk, const Wanted& wanted, bool exact) {
  const Piece& whole = chunks_[chunk];
  const Address lowest = whole.address + padding(whole, wanted.alignment);
  const Bytes usable = whole.address + whole.size - lowest;
  const bool at_end = exact || should_split(usable, wanted.size);
  const Address start = at_end ? upper_start(whole, wanted.size, wanted.alignment) : lowest;
  if (const Bytes below = start - whole.address; below > 0) {
    const Handle rest = split(chunk, below, whole.tag);
    insert<false>(chunk);
    chunk = rest;
  }
  const Bytes size = chunks_[chunk].size;
  if (size > wanted.size && (exact || should_split(size, wanted.size))) {
    insert<false>(split(chunk, wanted.size, Tag::upper));
  }
  return chunk;
}

Handle Allocator::split(Handle chunk, Bytes size, Tag upper_tag) {
  const Handle upper = chunks_.split(chunk, size);
  chunks_[upper].tag = upper_tag;
  return upper;
}

// A freed chunk at the border of its end becomes part of the gap.
void Allocator::retag(Handle chunk) {
  Piece& piece = chunks_[chunk];
  if (!options_.spatial || piece.tag == Tag::central_gap) return;
  const Handle inner = piece.tag == Tag::lower ? piece.above : piece.below;
  if (inner == kNoHandle || chunks_[inner].tag != piece.tag) piece.tag = Tag::central_gap;
}

void Allocator::free(Handle chunk, FreeOrigin) {
  Piece& piece = chunks_[chunk];
  piece.in_use = false;
  statistics_.bytes_in_use -= piece.size;
  if (options_.timestamped) {
    piece.freed_at = ++frees_;
    insert<false>(chunk);
    queue_.push_back(chunk);
    return;
  }
  retag(chunk);
  insert<false>(coalesce<false>(chunk, false));
}

FreeSpace Allocator::free_space() const {
  return {.total = statistics_.pool_bytes - statistics_.bytes_in_use,
          .largest = largest_free(),
          .obtainable = options_.limit - statistics_.pool_bytes};
}

Bytes Allocator::largest_free() const {
  return std::max(largest_free(Tag::lower), bins_[1].largest());
}

Bytes Allocator::largest_free(Tag end) const {
  return std::max(bins_[end == Tag::upper].largest(), gap_ == kNoHandle ? 0 : chunks_[gap_].size);
}

std::vector<AddressRange> Allocator::free_ranges() const {
  std::vector<AddressRange> ranges;
  const auto add = [&](Handle chunk) {
    const Piece& piece = chunks_[chunk];
    ranges.push_back({piece.address, piece.address + piece.size});
  };
  for (const FreeBlocks& bins : bins_) {
    bins.for_each([&](const FreeBlock& block) { add(block.block); });
  }
  if (gap_ != kNoHandle) add(gap_);
  return ranges;
}

Testimony Allocator::testimony() const {
  const auto number = [](Bytes bytes) { return static_cast<std::int64_t>(bytes); };
  const bool modern = options_.report == Generation::modern;
  return {.counters = {{"bytes_limit", number(options_.limit)},
                       {"bytes_in_use", number(statistics_.bytes_in_use)},
                       {"peak_bytes_in_use", number(statistics_.peak_bytes_in_use)},
                       {"num_allocs", statistics_.num_allocs},
                       {"largest_alloc_size", number(statistics_.largest_alloc_size)},
                       {"bytes_reserved", 0},
                       {"peak_bytes_reserved", 0},
                       {"largest_free_block_bytes", modern ? number(largest_free()) : 0},
                       {"pool_bytes", number(statistics_.pool_bytes)},
                       {"peak_pool_bytes", number(statistics_.peak_pool_bytes)},
                       {"largest_free_chunk", number(largest_free())},
                       {"next_region_bytes", number(next_region_)}}};
}

std::vector<Handle> Allocator::bin(int number) const {
  std::vector<Handle> found;
  for (const FreeBlocks& bins : bins_) {
    for (auto at = bins.lower_bound(kGranule << number);
         !at.at_end() && bin_of(bins[at].size) == number; at = bins.next(at)) {
      found.push_back(bins[at].block);
    }
  }
  // By size; of equal ones those of the lower end come first.
  std::stable_sort(found.begin(), found.end(),
                   [&](Handle a, Handle b) { return chunks_[a].size < chunks_[b].size; });
  return found;
}

const std::string& Allocator::op_name(const Request& request) const {
  static const std::string kUnknown = "(driver)";
  return request.tag != 0 && request.tag < op_names_.size() ? op_names_[request.tag] : kUnknown;
}

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

// Freed chunks may still be in use by what was queued on the device. They are not merged until the
// safe frontier has passed the count of their free, unless a request would fail otherwise.

void Allocator::safe_frontier(std::uint64_t count) {
  safe_frontier_ = std::max(safe_frontier_, count);
}

// Takes the entries to be merged out of the queue; those of chunks that are gone or in use again
// are forgotten.
std::vector<Handle> Allocator::leave_queue(bool also_unsafe) {
  std::vector<Handle> to_merge;
  std::vector<Handle> staying;
  for (const Handle chunk : queue_) {
    Piece& piece = chunks_[chunk];
    if (piece.size == 0 || !piece.is_binned()) continue;
    const bool safe = piece.freed_at == 0 || piece.freed_at < safe_frontier_;
    if (safe) piece.freed_at = 0;
    (safe || also_unsafe ? to_merge : staying).push_back(chunk);
  }
  queue_ = std::move(staying);
  return to_merge;
}

void Allocator::merge_what_is_safe() {
  for (const Handle chunk : leave_queue(false)) {
    if (chunks_[chunk].size == 0) continue;  // merged with one before it
    remove<false>(chunk);
    retag(chunk);
    insert<false>(coalesce<false>(chunk, false));
  }
}

// True when a chunk of this size has come out of it.
bool Allocator::merge_for(Bytes size) {
  bool satisfied = false;
  for (const Handle chunk : leave_queue(true)) {
    if (satisfied) {
      queue_.push_back(chunk);
      continue;
    }
    if (chunks_[chunk].size == 0) continue;
    remove<false>(chunk);
    retag(chunk);
    const Handle merged = coalesce<false>(chunk, true);
    insert<false>(merged);
    if (merged != chunk && chunks_[merged].freed_at > 0) queue_.push_back(merged);
    satisfied = chunks_[merged].size >= size;
  }
  return satisfied;
}

}  // namespace memreplay::bfc
