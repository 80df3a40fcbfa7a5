#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "extensions/rmm/stream_lists.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct RmmFixedOptions {
  Bytes block = kMiB;
  std::uint32_t blocks_per_chunk = 128;
  Bytes align = 256;

  Bytes chunk() const { return block * blocks_per_chunk; }
};

/// RMM's fixed_size_memory_resource (rapidsai/rmm, detail/{fixed_size_memory_resource_impl.cpp,
/// fixed_size_free_list.hpp}). O(1) a call, O(log streams) more where other lists are searched; a
/// new chunk costs as much as it has blocks. A block is numbered by its place in the chunks.
class RmmFixed final : public StrategyOn<RmmFixed> {
 public:
  RmmFixed(const RmmFixedOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {
    add_chunk(open_list(0), options_.align);
  }

  std::optional<Placement> allocate(const Request& request) override {
    if (request.size > options_.block) return std::nullopt;
    const Bytes alignment = std::max(options_.align, request.alignment);
    const std::uint32_t own = open_list(request.stream);
    Handle block = take(own, alignment);
    if (block == kNoHandle && streams_.several()) {
      block = take_from_another(own, alignment);
      if (block == kNoHandle) merge_all(own);
    }
    if (block == kNoHandle && add_chunk(own, alignment)) block = take(own, alignment);
    if (block == kNoHandle) return std::nullopt;
    blocks_[block] = {.requested = request.size, .stream = request.stream};
    ++live_;
    return Placement{address_of(block), options_.block, block};
  }

  void free(Handle block, FreeOrigin giver) override {
    giver = giver.or_owner({.stream = blocks_[block].stream});
    --live_;
    append(open_list(giver.stream), block);
  }

  FreeSpace free_space() const override {
    const Bytes total = held_bytes_ - live_ * options_.block;
    return {.total = total, .largest = live_ < blocks_.size() ? options_.block : 0};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const List& list : lists_) {
      for (Handle at = list.first; at != kNoHandle; at = blocks_[at].next) {
        ranges.push_back({address_of(at), address_of(at) + options_.block});
      }
    }
    return ranges;
  }

  StrategyUsage usage() const override { return {.stream_waits = stream_waits_}; }

  Testimony testimony() const override {
    return {.counters = {{"chunks", static_cast<std::int64_t>(chunks_.size())},
                         {"free_blocks", static_cast<std::int64_t>(blocks_.size() - live_)}}};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> live;
    for (const AlignedRegion& chunk : chunks_) {
      regions.push_back({.address = chunk.address, .size = chunk.size, .blocks = {}});
    }
    for (Handle block = 0; block < blocks_.size(); ++block) {
      if (blocks_[block].requested == 0) continue;
      live.push_back({address_of(block), options_.block, blocks_[block].requested});
    }
    return tiled(std::move(regions), live);
  }

 private:
  struct Block {
    Bytes requested = 0;  ///< 0: free
    Handle next = kNoHandle;
    StreamIndex stream = 0;
  };
  /// Blocks are taken at the front and come in at the back.
  struct List {
    Handle first = kNoHandle;
    Handle last = kNoHandle;
  };

  Address address_of(Handle block) const {
    return chunks_[block / options_.blocks_per_chunk].aligned +
           block % options_.blocks_per_chunk * options_.block;
  }

  std::uint32_t open_list(StreamIndex stream) {
    const std::uint32_t place = streams_.open(stream);
    if (place == lists_.size()) lists_.emplace_back();
    return place;
  }

  void append(std::uint32_t place, Handle block) {
    List& list = lists_[place];
    blocks_[block].requested = 0;
    blocks_[block].next = kNoHandle;
    (list.first == kNoHandle ? list.first : blocks_[list.last].next) = block;
    list.last = block;
    streams_.changed(place);
  }

  /// The first of the list; where the alignment asks for more than blocks have by themselves, the
  /// first that is aligned.
  Handle take(std::uint32_t place, Bytes alignment) {
    List& list = lists_[place];
    Handle before = kNoHandle;
    Handle block = list.first;
    while (block != kNoHandle && address_of(block) % alignment != 0) {
      before = block;
      block = blocks_[block].next;
    }
    if (block == kNoHandle) return kNoHandle;
    (before == kNoHandle ? list.first : blocks_[before].next) = blocks_[block].next;
    if (list.last == block) list.last = before;
    streams_.changed(place);
    return block;
  }

  Handle take_from_another(std::uint32_t own, Bytes alignment) {
    streams_.refresh([&](std::uint32_t place) { return lists_[place].first != kNoHandle; });
    for (auto other = streams_.next_offering(0, 1); other != StreamLists::kNone;
         other = streams_.next_offering(other + 1, 1)) {
      if (other == own) continue;
      const Handle block = take(other, alignment);
      if (block == kNoHandle) continue;
      ++stream_waits_;
      return block;
    }
    return kNoHandle;
  }

  /// None of the other lists has a block that serves, and merging helps as little.
  void merge_all(std::uint32_t own) {
    for (auto other = streams_.next_open(0); other != StreamLists::kNone;
         other = streams_.next_open(other + 1)) {
      if (other == own) continue;
      ++stream_waits_;
      streams_.close(other);
      for (Handle at = std::exchange(lists_[other], {}).first; at != kNoHandle;) {
        append(own, std::exchange(at, blocks_[at].next));
      }
    }
  }

  bool add_chunk(std::uint32_t place, Bytes alignment) {
    if (blocks_.size() > kNoHandle - std::size_t{options_.blocks_per_chunk}) return false;
    const auto chunk = obtain_aligned(*device_, options_.chunk(), alignment);
    if (!chunk) return false;
    chunks_.push_back(*chunk);
    held_bytes_ += chunk->size;
    const auto first = static_cast<Handle>(blocks_.size());
    blocks_.resize(first + std::size_t{options_.blocks_per_chunk});
    for (Handle block = first; block < blocks_.size(); ++block) append(place, block);
    return true;
  }

  RmmFixedOptions options_;
  std::vector<AlignedRegion> chunks_;
  std::vector<Block> blocks_;
  StreamLists streams_;
  std::vector<List> lists_;  ///< by place in streams_
  Bytes held_bytes_ = 0;
  std::uint64_t live_ = 0;
  std::uint64_t stream_waits_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  RmmFixedOptions options;
  options.align = alignment_option(spec, "align", 256);
  const Bytes block = size_option(spec, "block", kMiB);
  options.block = round_up(block, options.align);
  options.blocks_per_chunk = static_cast<std::uint32_t>(
      whole_option(spec, "blocks_per_chunk", 128, 1, std::numeric_limits<std::int32_t>::max()));
  if (block == 0 || options.block < block ||
      options.block > UINT64_MAX / options.blocks_per_chunk) {
    throw UsageError(fmt::format("strategy 'rmm-fixed': {} blocks of {} bytes are no chunk",
                                 options.blocks_per_chunk, block));
  }
  return std::make_unique<RmmFixed>(options, context.device);
}

}  // namespace

/// RMM's pool of blocks of one size.
StrategyInfo rmm_fixed_strategy() {
  return {.name = "rmm-fixed",
          .summary = "RMM's blocks of one size in a queue for each stream; larger requests fail.",
          .options = {{"block", "SIZE", "1MiB", "What each request gets."},
                      {"blocks_per_chunk", "N", "128",
                       "Blocks taken from the device at once; the first of them at the start."},
                      {"align", "SIZE", "256", "The block is rounded up to a multiple of this."}},
          .make = make,
          .example = "rmm-fixed:blocks_per_chunk=4",
          .keeps_regions = true,
          .scales = true};
}

}  // namespace memreplay
