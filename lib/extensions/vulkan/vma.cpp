#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/numbered_lists.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

enum class VmaChoice { usual, min_memory, min_time, min_offset };

/// Lists of 8 bytes up to 256, then 32 for each doubling.
std::uint32_t vma_list_of(Bytes size) {
  if (size <= 256) return static_cast<std::uint32_t>((size - 1) / 8);
  const auto doubling = static_cast<std::uint32_t>(std::bit_width(size)) - 1;
  return 32 * (doubling - 8) + static_cast<std::uint32_t>(size >> (doubling - 5));
}

/// The list right after that of the size: each block in it is large enough.
std::uint32_t vma_sure_list_of(Bytes size) { return vma_list_of(size) + 1; }

/// A virtual block of VulkanMemoryAllocator (VmaBlockMetadata_TLSF): two-level segregated fit, its
/// headers elsewhere. The last range, the tail, is in no list while it is free. A request is O(1)
/// where no alignment is asked for; min_offset looks at every range.
class Vma final : public StrategyOn<Vma> {
 public:
  Vma(VmaChoice choice, Bytes block_size, DeviceModel& device)
      : StrategyOn(device), choice_(choice), lists_(vma_list_of(UINT64_MAX) + 1) {
    const auto block = device_->obtain(block_size);
    if (!block) return;
    held_bytes_ = block_size;
    tail_ = chunks_.add_region(*block, block_size);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Wanted wanted{request.size, std::max<Bytes>(1, request.alignment)};
    Handle range = request.size <= held_bytes_ - live_bytes_ ? choose(wanted) : kNoHandle;
    if (range == kNoHandle) return std::nullopt;
    const bool is_tail = range == tail_;
    if (!is_tail) lists_.remove(range);
    if (const Bytes gap = wanted.lead(chunks_[range].address); gap != 0) {
      const Handle upper = chunks_.split(range, gap);
      list(range);
      range = upper;
    }
    const bool has_rest = wanted.size < chunks_[range].size;
    const Handle rest = has_rest ? chunks_.split(range, wanted.size) : kNoHandle;
    if (is_tail) {
      tail_ = rest;
    } else if (has_rest) {
      list(rest);
    }
    Chunk& taken = chunks_[range];
    taken.in_use = true;
    taken.requested = request.size;
    live_bytes_ += taken.size;
    return Placement{taken.address, taken.size, range};
  }

  void free(Handle range, FreeOrigin) override {
    live_bytes_ -= chunks_[range].size;
    chunks_[range].in_use = false;
    const bool joins_tail = chunks_[range].above == tail_;
    range = chunks_.join_neighbours(range, [&](Handle neighbour) {
      if (chunks_[neighbour].in_use) return false;
      if (neighbour != tail_) lists_.remove(neighbour);
      return true;
    });
    if (joins_tail) {
      tail_ = range;
    } else {
      list(range);
    }
  }

  FreeSpace free_space() const override {
    FreeSpace space{.total = held_bytes_ - live_bytes_, .obtainable = 0};
    if (tail_ != kNoHandle) space.largest = chunks_[tail_].size;
    lists_.for_each_in_last(
        [&](Handle at) { space.largest = std::max(space.largest, chunks_[at].size); });
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    chunks_.for_each([&](Handle at) {
      const Chunk& range = chunks_[at];
      if (!range.in_use) ranges.push_back({range.address, range.address + range.size});
    });
    return ranges;
  }

  Testimony testimony() const override {
    const std::size_t unused = lists_.count() + (tail_ != kNoHandle);
    return {.counters = {{"unused_ranges", static_cast<std::int64_t>(unused)}}};
  }

  MemoryState memory_state() const override { return chunks_.memory_state(); }

 private:
  void list(Handle range) { lists_.push(range, vma_list_of(chunks_[range].size)); }

  bool fits(Handle range, const Wanted& wanted) const {
    return range != kNoHandle && wanted.fits(chunks_[range].address, chunks_[range].size);
  }
  Handle tail_for(const Wanted& wanted) const { return fits(tail_, wanted) ? tail_ : kNoHandle; }
  Handle in_list(std::uint32_t list, const Wanted& wanted) const {
    if (list == NumberedLists::kNone) return kNoHandle;
    Handle at = lists_.newest(list);
    while (at != kNoHandle && !fits(at, wanted)) at = lists_.older(at);
    return at;
  }
  Handle lowest(const Wanted& wanted) const {
    for (const auto& [address, first] : chunks_.regions()) {
      for (Handle at = first; at != kNoHandle; at = chunks_[at].above) {
        if (!chunks_[at].in_use && fits(at, wanted)) return at;
      }
    }
    return kNoHandle;
  }

  Handle choose(const Wanted& wanted) const {
    if (lists_.count() == 0) return tail_for(wanted);
    if (choice_ == VmaChoice::min_offset) return lowest(wanted);
    const std::uint32_t sure = lists_.first_from(vma_sure_list_of(wanted.size));
    const std::uint32_t own = lists_.first_from(vma_list_of(wanted.size));
    Handle found = kNoHandle;
    if (choice_ == VmaChoice::min_memory) {
      found = in_list(own, wanted);
    } else if (choice_ == VmaChoice::usual) {
      found = in_list(sure, wanted);
    } else if (sure != NumberedLists::kNone && fits(lists_.newest(sure), wanted)) {
      found = lists_.newest(sure);
    }
    if (found == kNoHandle) found = tail_for(wanted);
    if (found == kNoHandle) found = in_list(sure, wanted);
    if (found == kNoHandle) found = in_list(own, wanted);
    return found == kNoHandle ? in_any_after(sure, wanted) : found;
  }

  /// Only an alignment makes a range of a later list necessary.
  Handle in_any_after(std::uint32_t list, const Wanted& wanted) const {
    Handle found = kNoHandle;
    while (found == kNoHandle && list != NumberedLists::kNone) {
      list = lists_.first_from(list + 1);
      found = in_list(list, wanted);
    }
    return found;
  }

  VmaChoice choice_;
  NumberedLists lists_;
  ChunkTable<> chunks_;
  Handle tail_ = kNoHandle;  ///< kNoHandle while the last range is in use
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  constexpr std::string_view kChoices[] = {"default", "min_memory", "min_time", "min_offset"};
  const Bytes size = size_option(spec, "block_size", context.capacity.value_or(0));
  if (size == 0) {
    throw UsageError("strategy 'vma': no block; expected block_size=SIZE, or a capacity");
  }
  const auto choice = static_cast<VmaChoice>(choice_option(spec, "strategy", kChoices, 0));
  return std::make_unique<Vma>(choice, size, context.device);
}

}  // namespace

/// A virtual block of VulkanMemoryAllocator.
StrategyInfo vma_strategy() {
  return {.name = "vma",
          .summary = "VulkanMemoryAllocator's virtual block: two-level segregated fit.",
          .options = {{"block_size", "SIZE", "capacity", "Bytes of the block."},
                      {"strategy", "default|min_memory|min_time|min_offset", "default",
                       "Which of the free ranges that fit is taken."}},
          .make = make,
          .example = "vma:block_size=48MiB",
          .keeps_regions = true,
          .known_as = {{"vulkan"}, {"vulkanmemoryallocator"}},
          .takes_at_once = "block_size"};
}

}  // namespace memreplay
