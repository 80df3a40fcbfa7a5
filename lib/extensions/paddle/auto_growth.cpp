#include <algorithm>
#include <vector>

#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/largest_of.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

/// Beyond it sizes would wrap.
constexpr Bytes kLargestGrowthRequest = Bytes{1} << 62;

/// Flags of Paddle, but for the alignment, which is the device's there.
struct AutoGrowthOptions {
  Bytes alignment = 256;
  Bytes chunk_size = 0;  ///< auto_growth_chunk_size_in_mb
  bool free_idle_chunk = false;
  bool free_when_no_cache_hit = false;
};

/// A size and an alignment that are at least those of the allocator.
struct GrowthRequest {
  Bytes size = 0;
  Bytes alignment = 1;

  /// The highest place within; unset where there is none.
  std::optional<Address> place_in(Address from, Bytes space) const {
    if (space < size) return std::nullopt;
    const Address at = (from + space - size) & ~(alignment - 1);
    return at < from ? std::nullopt : std::optional(at);
  }
};

/// Paddle's AutoGrowthBestFitAllocator (paddle/phi/core/memory/allocation), one for each stream as
/// its facade has them: best fit in chunks as large as a request, which is cut from the high end of
/// a free block. O(1) to O(log n) a call; O(chunks) where idle ones are returned.
class AutoGrowth final : public StrategyOn<AutoGrowth> {
 public:
  AutoGrowth(const AutoGrowthOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override {
    if (request.size > kLargestGrowthRequest) return std::nullopt;
    const GrowthRequest wanted{round_up(request.size, options_.alignment),
                               std::max(options_.alignment, request.alignment)};
    Handle chunk = find(wanted, request.stream);
    if (chunk == kNoHandle) chunk = grow(wanted, request.stream);
    if (chunk == kNoHandle) return std::nullopt;
    const Handle block = cut(chunk, wanted);
    Piece& given = chunks_[block];
    given.in_use = true;
    given.requested = request.size;
    live_bytes_ += given.size;
    return Placement{given.address, given.size, block};
  }

  void free(Handle block, FreeOrigin) override {
    chunks_[block].in_use = false;
    live_bytes_ -= chunks_[block].size;
    const StreamIndex stream = chunks_[block].stream;
    FreeBlocks& holes = holes_of(stream);
    const Handle joined = chunks_.join_neighbours(block, [&](Handle neighbour) {
      if (chunks_[neighbour].in_use) return false;
      holes.erase(key_of(neighbour));
      return true;
    });
    holes.insert(key_of(joined));
    if (options_.free_idle_chunk) return_idle_chunks(stream);
  }

  void empty_cache() override { return_idle_chunks({}); }

  FreeSpace free_space() const override {
    FreeSpace space{.total = held_bytes_ - live_bytes_};
    space.largest = largest_.get([&](std::uint32_t stream) { return holes_[stream].largest(); });
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const FreeBlocks& holes : holes_) {
      holes.for_each([&](const FreeBlock& hole) {
        ranges.push_back({hole.rank, hole.rank + hole.size});
      });
    }
    return ranges;
  }

  StrategyUsage usage() const override { return {.oom_retries = retries_}; }

  Testimony testimony() const override {
    return {.counters = {{"chunks", static_cast<std::int64_t>(chunks_.regions().size())},
                         {"idle_chunk_bytes_returned", static_cast<std::int64_t>(returned_)}},
            .remarks = {"a model that follows the source of Paddle's auto_growth, not compared "
                        "with recordings of it"}};
  }

  MemoryState memory_state() const override { return chunks_.memory_state(); }

 private:
  struct Piece : Chunk {
    Address region = 0;  ///< as the device gave it
    StreamIndex stream = 0;
  };

  FreeBlocks& holes_of(StreamIndex stream) {
    if (holes_.size() <= stream) holes_.resize(stream + 1, FreeBlocks(8));
    largest_.note(stream);
    return holes_[stream];
  }

  FreeBlock key_of(Handle chunk) const {
    return {chunks_[chunk].size, chunks_[chunk].address, chunk};
  }

  /// The smallest hole of the stream, the lowest of equals, no longer listed.
  Handle find(const GrowthRequest& wanted, StreamIndex stream) {
    FreeBlocks& holes = holes_of(stream);
    for (auto at = holes.lower_bound(wanted.size); !at.at_end(); at = holes.next(at)) {
      if (!wanted.place_in(holes[at].rank, holes[at].size)) continue;
      const FreeBlock hole = holes[at];
      holes.erase(hole);
      return hole.block;
    }
    return kNoHandle;
  }

  /// A new chunk, after idle ones of the stream, then of all, were returned where there is no room.
  Handle grow(const GrowthRequest& wanted, StreamIndex stream) {
    if (options_.free_when_no_cache_hit) return_idle_chunks(stream);
    const Bytes size = std::max({wanted.size, options_.chunk_size, options_.alignment});
    auto region = obtain_aligned(*device_, size, wanted.alignment);
    if (!region && !options_.free_when_no_cache_hit) region = retry(size, wanted, stream);
    if (!region) region = retry(size, wanted, {});
    if (!region) return kNoHandle;
    held_bytes_ += size;
    Piece whole;
    whole.region = region->address;
    whole.stream = stream;
    return chunks_.add_region(region->aligned, size, whole);
  }

  std::optional<AlignedRegion> retry(Bytes size, const GrowthRequest& wanted,
                                     std::optional<StreamIndex> stream) {
    if (return_idle_chunks(stream) == 0) return std::nullopt;
    ++retries_;
    return obtain_aligned(*device_, size, wanted.alignment);
  }

  /// The request's piece of a chunk that is not listed; what is left below and above it is.
  Handle cut(Handle chunk, const GrowthRequest& wanted) {
    FreeBlocks& holes = holes_of(chunks_[chunk].stream);
    const Address from = chunks_[chunk].address;
    const Address at = *wanted.place_in(from, chunks_[chunk].size);
    if (at > from) {
      const Handle upper = chunks_.split(chunk, at - from);
      holes.insert(key_of(chunk));
      chunk = upper;
    }
    if (chunks_[chunk].size > wanted.size) holes.insert(key_of(chunks_.split(chunk, wanted.size)));
    return chunk;
  }

  /// Returns idle chunks of this stream, or of all streams; the result is in bytes.
  Bytes return_idle_chunks(std::optional<StreamIndex> stream) {
    std::vector<Handle> idle;
    for (const auto& [address, first] : chunks_.regions()) {
      const Piece& chunk = chunks_[first];
      const bool of_stream = !stream || chunk.stream == *stream;
      if (of_stream && !chunk.in_use && chunks_.fills_region(first)) idle.push_back(first);
    }
    Bytes bytes = 0;
    for (const Handle chunk : idle) {
      bytes += chunks_[chunk].size;
      holes_of(chunks_[chunk].stream).erase(key_of(chunk));
      const Address region = chunks_[chunk].region;
      chunks_.remove_region(chunk);
      device_->give_back(region);
    }
    held_bytes_ -= bytes;
    returned_ += bytes;
    return bytes;
  }

  AutoGrowthOptions options_;
  ChunkTable<Piece> chunks_;
  std::vector<FreeBlocks> holes_;  ///< by stream
  mutable LargestOf largest_;      ///< hole of each stream
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  Bytes returned_ = 0;
  std::uint64_t retries_ = 0;
};

std::unique_ptr<Strategy> make_auto_growth(const StrategySpec& spec,
                                           const StrategyContext& context) {
  AutoGrowthOptions options;
  options.alignment = alignment_option(spec, "alignment", options.alignment);
  options.chunk_size =
      round_up(mebibytes_option(spec, "auto_growth_chunk_size_in_mb", options.chunk_size),
               options.alignment);
  options.free_idle_chunk = bool_option(spec, "free_idle_chunk", false);
  options.free_when_no_cache_hit = bool_option(spec, "free_when_no_cache_hit", false);
  return std::make_unique<AutoGrowth>(options, context.device);
}

}  // namespace

StrategyInfo auto_growth_strategy() {
  return {
      .name = "auto-growth",
      .summary = "Paddle's auto_growth: best fit in chunks as large as the requests; a model.",
      .options = {{"auto_growth_chunk_size_in_mb", "MB", "0", "The least size of a chunk."},
                  {"free_idle_chunk", "true|false", "false",
                   "Chunks without a block are returned at every free."},
                  {"free_when_no_cache_hit", "true|false", "false",
                   "They are returned before a chunk is asked for, not where there is no room."},
                  {"alignment", "SIZE", "256", "Sizes and addresses are multiples of this."}},
      .make = make_auto_growth,
      .keeps_regions = true,
      .known_as = {{"paddle"}, {"paddlepaddle"}}};
}

}  // namespace memreplay
