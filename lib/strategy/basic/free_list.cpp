#include <algorithm>

#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/first_fit.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct FreeListOptions {
  bool best_fit = false;
  bool split = true;
  Bytes align = 1;
};

struct Piece : Chunk {
  Address region = 0;  ///< as the device gave it
  Bytes lead = 0;      ///< skipped at the start of a block that is used whole, for alignment
};

/// First fit or best fit, neighbours join at once (Knuth, The Art of Computer Programming, 2.5).
/// Best fit costs O(1) to O(log n), first fit looks at n / 1000 groups of blocks besides.
class FreeList final : public StrategyOn<FreeList>, private Prefetch {
 public:
  FreeList(const FreeListOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override {
    const Wanted wanted{round_up(request.size, options_.align),
                        std::max({Bytes{1}, options_.align, request.alignment})};
    if (wanted.size < request.size) return std::nullopt;
    Handle block = options_.best_fit ? best_fit(by_size_, wanted) : by_address_.lowest(wanted);
    if (block == kNoHandle) block = grow(wanted);
    if (block == kNoHandle) return std::nullopt;
    const Bytes lead = wanted.lead(chunks_[block].address);
    if (options_.split) {
      block = cut(block, lead, wanted.size);
    } else {
      unlist(block);
      chunks_[block].lead = lead;
    }
    Piece& taken = chunks_[block];
    taken.in_use = true;
    taken.requested = request.size;
    live_bytes_ += taken.size - taken.lead;
    return Placement{taken.address + taken.lead, taken.size - taken.lead, block};
  }

  void free(Handle block, FreeOrigin) override {
    Piece& freed = chunks_[block];
    freed.in_use = false;
    live_bytes_ -= freed.size - freed.lead;
    // Blocks that are used whole are regions, and have no neighbours.
    const Handle above = freed.above;
    const Handle below = freed.below;
    const bool joins_above = above != kNoHandle && !chunks_[above].in_use;
    if (below != kNoHandle && !chunks_[below].in_use) {
      const FreeBlock listed = entry_of(below);
      if (joins_above) {
        unlist(above);
        chunks_.absorb_above(block);
      }
      chunks_.absorb_above(below);
      relist(listed, below);
    } else if (joins_above) {
      const FreeBlock listed = entry_of(above);
      chunks_.absorb_above(block);
      relist(listed, block);
    } else {
      list(block);
    }
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override {
    const Piece& freed = chunks_[block];
    if (freed.below != kNoHandle) __builtin_prefetch(&chunks_[freed.below]);
    if (freed.above != kNoHandle) __builtin_prefetch(&chunks_[freed.above]);
  }

  void empty_cache() override {
    std::vector<Handle> unused;
    for (const auto& [address, first] : chunks_.regions()) {
      if (chunks_.fills_region(first) && !chunks_[first].in_use) unused.push_back(first);
    }
    for (const Handle region : unused) {
      unlist(region);
      held_bytes_ -= chunks_[region].size;
      device_->give_back(chunks_[region].region);
      chunks_.remove_region(region);
    }
  }

  FreeSpace free_space() const override {
    return {.total = held_bytes_ - live_bytes_,
            .largest = options_.best_fit ? by_size_.largest() : by_address_.largest()};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    const auto add = [&](Address at, Bytes size) { ranges.push_back({at, at + size}); };
    by_size_.for_each([&](const FreeBlock& block) { add(block.rank, block.size); });
    by_address_.for_each(add);
    return ranges;
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> blocks;
    for (const SegmentInfo& region : chunks_.memory_state().segments) {
      regions.push_back({.address = region.address, .size = region.size, .blocks = {}});
    }
    chunks_.for_each([&](Handle block) {
      const Piece& piece = chunks_[block];
      if (!piece.in_use) return;
      blocks.push_back({piece.address + piece.lead, piece.size - piece.lead, piece.requested});
    });
    return tiled(std::move(regions), blocks);
  }

 private:
  FreeBlock entry_of(Handle block) const {
    return {chunks_[block].size, chunks_[block].address, block};
  }

  void list(Handle block) {
    const FreeBlock entry = entry_of(block);
    options_.best_fit ? by_size_.insert(entry) : by_address_.insert(entry.rank, entry.size, block);
  }

  void unlist(Handle block) {
    const FreeBlock entry = entry_of(block);
    options_.best_fit ? by_size_.erase(entry) : by_address_.erase(entry.rank);
  }

  /// `block` takes the place of what was listed, between the same neighbours.
  void relist(const FreeBlock& listed, Handle block) {
    const FreeBlock entry = entry_of(block);
    if (!options_.best_fit) return by_address_.replace(listed.rank, entry.rank, entry.size, block);
    by_size_.erase(listed);
    by_size_.insert(entry);
  }

  /// Takes `size` bytes after `lead` out of a listed block; what is left on both sides is listed.
  Handle cut(Handle block, Bytes lead, Bytes size) {
    const FreeBlock listed = entry_of(block);
    if (lead > 0) {
      const Handle rest = chunks_.split(block, lead);
      relist(listed, block);
      if (chunks_[rest].size > size) list(chunks_.split(rest, size));
      return rest;
    }
    if (chunks_[block].size > size) {
      relist(listed, chunks_.split(block, size));
    } else {
      unlist(block);
    }
    return block;
  }

  Handle grow(const Wanted& wanted) {
    const auto region = obtain_aligned(*device_, wanted.size, wanted.alignment);
    if (!region) return kNoHandle;
    Piece whole;
    whole.region = region->address;
    const Handle block = chunks_.add_region(region->address, region->size, whole);
    held_bytes_ += region->size;
    list(block);
    return block;
  }

  FreeListOptions options_;
  ChunkTable<Piece> chunks_;
  FreeBlocks by_size_;   ///< used by best fit
  FirstFit by_address_;  ///< used by first fit
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

/// The allocator of the textbooks: free blocks in a list by address.
StrategyInfo free_list_strategy() {
  return {.name = "free-list",
          .summary = "The textbook allocator: free blocks in a list by address, neighbours join.",
          .options = {{"fit", "first|best", "first",
                       "Which free block serves: the lowest that fits, or the smallest."},
                      {"split", "true|false", "true",
                       "Cut free blocks to size; false: they are used whole and never join."},
                      {"align", "SIZE", "1", "Sizes and addresses are multiples of this."}},
          .make = make,
          .scales = true,
          .known_as = {{"freelistallocator"},
                       {"textbook"},
                       {"firstfit", "fit=first"},
                       {"bestfit", "fit=best"}},
          .divides_early = true};
}

}  // namespace memreplay
