#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "extensions/rmm/stream_lists.hpp"
#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct RmmPoolOptions {
  Bytes initial = 0;
  std::optional<Bytes> maximum;
  Bytes align = 256;
};

struct Piece : Chunk {
  std::uint32_t list = 0;  ///< a free piece: where it is listed
  StreamIndex stream = 0;  ///< a block: who asked for it
};

/// RMM's pool_memory_resource (rapidsai/rmm, detail/{stream_ordered_memory_resource,
/// coalescing_free_list}.hpp). A request and a free cost O(1) to O(log n) with one stream; O(log
/// streams) more where other lists are searched; merging two lists moves the shorter one.
class RmmPool final : public StrategyOn<RmmPool> {
 public:
  RmmPool(const RmmPoolOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {
    if (options_.initial == 0) return;
    const std::uint32_t place = open_list(0);
    if (const auto region = device_->obtain(options_.initial)) {
      add_region(place, *region, options_.initial);
    }
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Wanted wanted{round_up(request.size, options_.align),
                        std::max(options_.align, request.alignment)};
    if (wanted.size < request.size) return std::nullopt;
    const std::uint32_t own = open_list(request.stream);
    std::uint32_t place = own;
    Handle block = find(own, wanted);
    if (block == kNoHandle && streams_.several()) {
      block = find_in_another(own, wanted, place);
      if (block == kNoHandle) block = merge_until_found(own, wanted);
    }
    if (block == kNoHandle) block = grow(own, wanted);
    if (block == kNoHandle) return std::nullopt;
    block = take(place, block, wanted);
    Piece& taken = chunks_[block];
    taken.stream = request.stream;
    taken.requested = request.size;
    live_bytes_ += taken.size;
    return Placement{taken.address, taken.size, block};
  }

  void free(Handle block, FreeOrigin giver) override {
    giver = giver.or_owner({.stream = chunks_[block].stream});
    live_bytes_ -= chunks_[block].size;
    put(open_list(giver.stream), block);
  }

  FreeSpace free_space() const override {
    refresh_offers();
    FreeSpace space{.total = held_bytes_ - live_bytes_, .largest = streams_.most_offered()};
    if (options_.maximum) {
      space.obtainable = *options_.maximum - std::min(*options_.maximum, held_bytes_);
    }
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const FreeBlocks& list : lists_) {
      list.for_each([&](const FreeBlock& block) {
        ranges.push_back({block.rank, block.rank + block.size});
      });
    }
    return ranges;
  }

  StrategyUsage usage() const override {
    return {.oom_retries = refusals_, .stream_waits = stream_waits_};
  }

  Testimony testimony() const override {
    std::int64_t blocks = 0;
    for (const FreeBlocks& list : lists_) blocks += static_cast<std::int64_t>(list.size());
    return {.counters = {{"pool_bytes", static_cast<std::int64_t>(held_bytes_)},
                         {"growths", static_cast<std::int64_t>(chunks_.regions().size())},
                         {"free_blocks", blocks},
                         {"lists_merged", merges_},
                         {"own_list_steps", steps_}}};
  }

  MemoryState memory_state() const override { return chunks_.memory_state(); }

 private:
  std::uint32_t open_list(StreamIndex stream) {
    const std::uint32_t place = streams_.open(stream);
    if (place == lists_.size()) {
      list_at_.push_back(place);
      lists_.emplace_back();
    }
    return place;
  }

  /// The smallest block of the list that serves, the lowest of equals.
  Handle find(std::uint32_t place, const Wanted& wanted) {
    const FreeBlocks& list = lists_[list_at_[place]];
    steps_ += static_cast<std::int64_t>(list.size());
    return best_fit(list, wanted);
  }

  void refresh_offers() const {
    streams_.refresh([&](std::uint32_t changed) { return lists_[list_at_[changed]].largest(); });
  }

  Handle find_in_another(std::uint32_t own, const Wanted& wanted, std::uint32_t& place) {
    refresh_offers();
    for (auto other = streams_.next_offering(0, wanted.size); other != StreamLists::kNone;
         other = streams_.next_offering(other + 1, wanted.size)) {
      if (other == own) continue;
      const Handle block = find(other, wanted);
      if (block == kNoHandle) continue;
      ++stream_waits_;
      place = other;
      return block;
    }
    return kNoHandle;
  }

  Handle merge_until_found(std::uint32_t own, const Wanted& wanted) {
    for (auto other = streams_.next_open(0); other != StreamLists::kNone;
         other = streams_.next_open(other + 1)) {
      if (other == own) continue;
      ++stream_waits_;
      ++merges_;
      merge(other, own);
      if (const Handle block = find(own, wanted); block != kNoHandle) return block;
    }
    return kNoHandle;
  }

  void merge(std::uint32_t other, std::uint32_t own) {
    streams_.close(other);
    if (lists_[list_at_[other]].size() > lists_[list_at_[own]].size()) {
      std::swap(list_at_[other], list_at_[own]);
    }
    FreeBlocks& shorter = lists_[list_at_[other]];
    while (!shorter.empty()) {
      const Handle block = shorter[shorter.begin()].block;
      shorter.erase(shorter.begin());
      put(own, block);
    }
    streams_.changed(own);
  }

  Handle grow(std::uint32_t own, const Wanted& wanted) {
    Bytes room = UINT64_MAX;
    Bytes want = std::max(wanted.size, held_bytes_);
    if (options_.maximum) {
      room = round_up(*options_.maximum - std::min(*options_.maximum, held_bytes_), options_.align);
      want = std::max(wanted.size, room / 2);
    }
    if (wanted.size > room) return kNoHandle;
    while (true) {
      if (const Handle region = obtain(own, wanted, want, room); region != kNoHandle) return region;
      ++refusals_;
      if (want == wanted.size) return kNoHandle;
      want = std::max(wanted.size, want / 2);
    }
  }

  /// A region in which the request fits; a longer one where the device does not align so far.
  Handle obtain(std::uint32_t own, const Wanted& wanted, Bytes size, Bytes room) {
    auto region = device_->obtain(size);
    if (region && !wanted.fits(*region, size)) {
      device_->give_back(*region);
      if (wanted.alignment > room || size > room - wanted.alignment) return kNoHandle;
      size += wanted.alignment;
      region = device_->obtain(size);
    }
    return region ? add_region(own, *region, size) : kNoHandle;
  }

  Handle add_region(std::uint32_t place, Address address, Bytes size) {
    const Handle region = chunks_.add_region(address, size);
    held_bytes_ += size;
    put(place, region);
    return region;
  }

  /// Cuts the request out of a block of the list at `place`; what is left over stays there.
  Handle take(std::uint32_t place, Handle block, const Wanted& wanted) {
    Piece& found = chunks_[block];
    lists_[found.list].erase(FreeBlock{found.size, found.address, block});
    found.in_use = true;
    if (const Bytes lead = wanted.lead(found.address); lead != 0) {
      const Handle upper = chunks_.split(block, lead);
      chunks_[upper].in_use = true;
      put(place, block);
      block = upper;
    }
    if (wanted.size < chunks_[block].size) put(place, chunks_.split(block, wanted.size));
    streams_.changed(place);
    return block;
  }

  /// Lists the block, joined with its neighbours in the same list.
  void put(std::uint32_t place, Handle block) {
    const std::uint32_t list = list_at_[place];
    const auto joins = [&](Handle neighbour) {
      const Piece& piece = chunks_[neighbour];
      if (piece.in_use || piece.list != list) return false;
      lists_[list].erase(FreeBlock{piece.size, piece.address, neighbour});
      return true;
    };
    // Until it is listed it must not be taken for free.
    chunks_[block].in_use = true;
    block = chunks_.join_neighbours(block, joins);
    Piece& piece = chunks_[block];
    piece.in_use = false;
    piece.list = list;
    lists_[list].insert({piece.size, piece.address, block});
    streams_.changed(place);
  }

  RmmPoolOptions options_;
  ChunkTable<Piece> chunks_;
  mutable StreamLists streams_;
  std::vector<std::uint32_t> list_at_;  ///< by place in streams_
  std::vector<FreeBlocks> lists_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t stream_waits_ = 0;
  std::int64_t merges_ = 0;
  std::int64_t steps_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  RmmPoolOptions options;
  options.align = alignment_option(spec, "align", 256);
  options.initial = size_option(spec, "initial", 0);
  if (find_option(spec, "maximum")) options.maximum = size_option(spec, "maximum", 0);
  for (const Bytes size : {options.initial, options.maximum.value_or(0)}) {
    if (size % options.align == 0) continue;
    throw UsageError(fmt::format(
        "strategy 'rmm-pool': {} bytes are no size of a pool; expected a multiple of {}", size,
        options.align));
  }
  if (options.maximum && options.initial > *options.maximum) {
    throw UsageError("strategy 'rmm-pool': initial is above maximum");
  }
  return std::make_unique<RmmPool>(options, context.device);
}

std::string maximum_for(std::optional<Bytes> room) {
  const Bytes most = room.value_or(0) / 256 * 256;
  return most > 0 ? fmt::format("maximum={}", most) : "";
}

}  // namespace

/// RMM's pool: best fit over free lists of the streams, grown by doubling.
StrategyInfo rmm_pool_strategy() {
  return {.name = "rmm-pool",
          .summary = "RMM's pool: best fit in a free list for each stream, grown by doubling.",
          .options = {{"initial", "SIZE", "0", "What the pool holds from the start."},
                      {"maximum", "SIZE", "none",
                       "The pool grows by half of what is left up to it; none: it doubles."},
                      {"align", "SIZE", "256", "Sizes and addresses are multiples of this."}},
          .make = make,
          .keeps_regions = true,
          .scales = true,
          .known_as = {{"rmm"}, {"rapids"}, {"cudf"}},
          .presets = {{"", 2}, {.group = 2, .options_for = maximum_for}},
          .divides_early = true};
}

}  // namespace memreplay
