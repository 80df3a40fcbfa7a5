#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/torch_sizes.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/largest_of.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kTooLarge = Bytes{1} << 60;
/// Regions and ranges begin at multiples of it, whatever the device.
constexpr Bytes kAddressUnit = 2 * kMiB;
/// Handles of stitched blocks; those below are numbers of primary ones.
constexpr Handle kStitched = Handle{1} << 31;
constexpr int kCollections = 3;

struct GmlakeOptions {
  Bytes chunk = 2 * kMiB;
  Bytes frag_limit = 512 * kMiB;  ///< smaller requests are never stitched
  std::uint64_t reuse_limit = 10;
  std::size_t level = 0;  ///< stitch before asking the device, after it refused, after a release
  Bytes gc_limit = 1000 * kGiB;
};

using StitchedIndex = std::uint32_t;

struct Piece : Chunk {
  std::uint32_t segment = 0;
  std::uint32_t lane = 0;
  bool small = false;
};

/// A range of addresses over memory of primary blocks. Live: its first `used` bytes are a block.
struct Stitched {
  Address address = 0;
  Bytes size = 0;  ///< 0: the number is not in use
  Bytes used = 0;
  std::uint32_t lane = 0;
  bool live = false;
  std::uint64_t busy = 0;      ///< chunks in use, by whatever block; 0: whole-free
  std::uint64_t released = 0;  ///< when it was last freed
  std::vector<AddressRange> parts;
  std::vector<Handle> pieces;  ///< the live block's
};

struct Search {
  Bytes size = 0;
  Bytes alignment = 0;
  Bytes padding = 0;  ///< what the alignment may cost at most
  std::uint32_t lane = 0;
  bool small = false;

  Bytes space() const { return size + padding; }
};

class Gmlake final : public StrategyOn<Gmlake> {
 public:
  Gmlake(const GmlakeOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override {
    if (request.size >= kTooLarge || request.alignment >= kTooLarge) return std::nullopt;
    Search search;
    search.small = request.size <= torch::kSmallSize;
    const Bytes unit = search.small ? torch::kMinBlockSize : options_.chunk;
    search.size = round_up(request.size, unit);
    search.alignment = std::max(request.alignment, Bytes{1});
    search.padding = search.alignment - std::min(search.alignment, unit);
    search.lane = lane_of(request.pool, request.stream);

    if (auto served = serve_from_cache(search, request.size)) return served;
    if (options_.level == 0) {
      if (auto served = stitch(search, request.size)) return served;
    }
    if (grow(search)) return serve_from_cache(search, request.size);
    if (options_.level <= 1) {
      if (auto served = stitch(search, request.size)) return served;
    }
    empty_cache();
    ++oom_retries_;
    if (grow(search)) return serve_from_cache(search, request.size);
    return stitch(search, request.size);
  }

  void free(Handle handle, FreeOrigin) override {
    if (handle < kStitched) {
      free_piece(handle);
    } else {
      free_stitched(handle);
    }
    if (virtual_mapped_ > options_.gc_limit) collect(virtual_mapped_ - options_.gc_limit);
  }

  /// The release waits for all streams, as PyTorch's does.
  void empty_cache() override {
    ++syncs_;
    collect(UINT64_MAX);
    std::vector<Handle> whole;
    for (const auto& [address, piece] : pieces_.regions()) {
      if (!pieces_[piece].in_use && pieces_.fills_region(piece) && !is_mapped(piece)) {
        whole.push_back(piece);
      }
    }
    for (const Handle handle : whole) {
      const Piece piece = pieces_[handle];
      erase_free(handle);
      unused_segments_.push_back(piece.segment);
      segments_[piece.segment] = {};
      held_bytes_ -= piece.size;
      device_->give_back(piece.address);
      pieces_.remove_region(handle);
    }
  }

  /// Where memory can be stitched, all free chunks of a stream are one hole.
  FreeSpace free_space() const override {
    FreeSpace space{.total = held_bytes_ - live_bytes_};
    space.largest = largest_.get([&](std::uint32_t number) {
      const StreamBlocks& lane = lanes_[number];
      const Bytes together = lane.large_bytes >= options_.frag_limit ? lane.large_bytes : 0;
      return std::max({lane.small.largest(), lane.large.largest(), together});
    });
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const StreamBlocks& lane : lanes_) {
      for (const FreeBlocks* free : {&lane.small, &lane.large}) {
        free->for_each([&](const FreeBlock& block) {
          ranges.push_back({block.rank, block.rank + block.size});
        });
      }
    }
    return ranges;
  }

  StrategyUsage usage() const override { return {.oom_retries = oom_retries_, .syncs = syncs_}; }

  Testimony testimony() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    return {.counters = {{"stitches", number(stitches_)},
                         {"stitched_pieces", number(stitched_pieces_)},
                         {"pieces_per_100_stitches",
                          number(stitches_ == 0 ? 0 : stitched_pieces_ * 100 / stitches_)},
                         {"stitched_reuses", number(reuses_)},
                         {"stitched_collected", number(collected_)},
                         {"virtual_mapped_bytes", number(virtual_mapped_)},
                         {"peak_virtual_mapped_bytes", number(peak_virtual_mapped_)}}};
  }

  /// Segments by address; a stitched block shows as the memory that it uses.
  MemoryState memory_state() const override { return pieces_.memory_state(); }

 private:
  void free_stitched(Handle handle) {
    Stitched& block = stitched_[handle - kStitched];
    block.live = false;
    block.released = ++releases_;
    const std::vector<Handle> pieces = std::exchange(block.pieces, {});
    for (const Handle piece : pieces) free_piece(piece);
  }

  /// What one stream has in one of the program's pools.
  struct StreamBlocks {
    FreeBlocks small, large, whole;  ///< whole: stitched blocks all of whose chunks are free
    Bytes large_bytes = 0;           ///< bytes in `large`
  };
  struct Segment {
    Address address = 0;
    std::vector<std::vector<StitchedIndex>> mappers;  ///< by chunk; empty: nothing maps it
  };

  std::uint32_t lane_of(PoolIndex pool, StreamIndex stream) {
    if (lane_numbers_.size() <= pool) lane_numbers_.resize(std::size_t{pool} + 1);
    auto& numbers = lane_numbers_[pool];
    if (numbers.size() <= stream) numbers.resize(std::size_t{stream} + 1, UINT32_MAX);
    if (numbers[stream] == UINT32_MAX) {
      numbers[stream] = static_cast<std::uint32_t>(lanes_.size());
      lanes_.emplace_back();
    }
    return numbers[stream];
  }

  std::optional<Placement> serve_from_cache(const Search& search, Bytes requested) {
    StreamBlocks& lane = lanes_[search.lane];
    FreeBlocks& free = search.small ? lane.small : lane.large;
    const auto at = free.lower_bound(search.space());
    if (!at.at_end()) return serve_piece(free[at].block, search, requested);
    if (search.small || search.padding != 0) return std::nullopt;
    const auto whole = lane.whole.lower_bound(search.size);
    if (whole.at_end()) return std::nullopt;
    const FreeBlock found = lane.whole[whole];
    const std::uint64_t limit = options_.reuse_limit;
    if ((found.size + limit - 1) / limit > search.size) return std::nullopt;
    ++reuses_;
    return serve_stitched(found.block, search.size, requested);
  }

  std::optional<Placement> serve_piece(Handle handle, const Search& search, Bytes requested) {
    const Address from = round_up(pieces_[handle].address, search.alignment);
    handle = carve(handle, {from, from + search.size});
    occupy(handle, requested);
    return Placement{from, search.size, handle};
  }

  /// Cuts a free piece so that `part` of it is one, and takes that out of the free blocks.
  Handle carve(Handle handle, AddressRange part) {
    erase_free(handle);
    if (part.from > pieces_[handle].address) {
      const Handle upper = pieces_.split(handle, part.from - pieces_[handle].address);
      insert_free(handle);
      handle = upper;
    }
    if (part.size() < pieces_[handle].size) insert_free(pieces_.split(handle, part.size()));
    return handle;
  }

  void occupy(Handle handle, Bytes requested) {
    Piece& piece = pieces_[handle];
    piece.in_use = true;
    piece.requested = std::min(requested, piece.size);
    live_bytes_ += piece.size;
    for_each_mapper(piece, [&](StitchedIndex index) {
      Stitched& mapper = stitched_[index];
      if (mapper.busy++ == 0) lanes_[mapper.lane].whole.erase(key_of(index));
    });
  }

  void free_piece(Handle handle) {
    Piece& piece = pieces_[handle];
    piece.in_use = false;
    live_bytes_ -= piece.size;
    for_each_mapper(piece, [&](StitchedIndex index) {
      Stitched& mapper = stitched_[index];
      if (--mapper.busy == 0) lanes_[mapper.lane].whole.insert(key_of(index));
    });
    insert_free(pieces_.join_neighbours(handle, [&](Handle neighbour) {
      if (pieces_[neighbour].in_use) return false;
      erase_free(neighbour);
      return true;
    }));
  }

  bool grow(const Search& search) {
    const Bytes size = search.small
                           ? round_up(search.space(), torch::kSmallBuffer)
                           : torch::get_allocation_size(search.space(), torch::kLargeBuffer);
    const auto address = device_->obtain(size);
    if (!address) return false;
    std::uint32_t segment = static_cast<std::uint32_t>(segments_.size());
    if (unused_segments_.empty()) {
      segments_.emplace_back();
    } else {
      segment = unused_segments_.back();
      unused_segments_.pop_back();
    }
    segments_[segment].address = *address;
    Piece piece;
    piece.segment = segment;
    piece.lane = search.lane;
    piece.small = search.small;
    insert_free(pieces_.add_region(*address, size, piece));
    held_bytes_ += size;
    return true;
  }

  /// Free primary blocks from the largest down, the last one cut so that they make up the size.
  std::optional<Placement> stitch(const Search& search, Bytes requested) {
    StreamBlocks& lane = lanes_[search.lane];
    if (search.small || search.padding != 0 || search.size < options_.frag_limit ||
        lane.large_bytes < search.size || device_->virtual_memory() == nullptr) {
      return std::nullopt;
    }
    std::vector<Handle> chosen;
    Bytes missing = search.size;
    for (auto at = lane.large.previous({}); missing != 0; at = lane.large.previous(at)) {
      chosen.push_back(lane.large[at].block);
      missing -= std::min(missing, lane.large[at].size);
    }
    if (chosen.size() < 2) return std::nullopt;
    const auto address = reserve(search.size);
    if (!address) return std::nullopt;

    Stitched block{.address = *address, .size = search.size, .lane = search.lane};
    Address to = *address;
    for (const Handle handle : chosen) {
      const Address from = pieces_[handle].address;
      const Bytes size = std::min(pieces_[handle].size, *address + search.size - to);
      device_->virtual_memory()->alias(to, from, size, options_.chunk);
      block.parts.push_back({from, from + size});
      to += size;
    }
    const StitchedIndex index = new_stitched(std::move(block));
    ++stitches_;
    stitched_pieces_ += chosen.size();
    virtual_mapped_ += search.size;
    peak_virtual_mapped_ = std::max(peak_virtual_mapped_, virtual_mapped_);
    return serve_stitched(index, search.size, requested);
  }

  std::optional<Address> reserve(Bytes size) {
    auto address = device_->virtual_memory()->reserve(size);
    for (int time = 0; !address && time < kCollections; ++time) {
      collect(size);
      address = device_->virtual_memory()->reserve(size);
    }
    return address;
  }

  Placement serve_stitched(StitchedIndex index, Bytes size, Bytes requested) {
    const std::vector<AddressRange> parts = stitched_[index].parts;
    std::vector<Handle> taken;
    Bytes left = size;
    for (const AddressRange part : parts) {
      if (left == 0) break;
      const Bytes used = std::min(left, part.size());
      taken.push_back(carve(free_piece_at(part.from), {part.from, part.from + used}));
      occupy(taken.back(), requested);
      requested -= std::min(requested, used);
      left -= used;
    }
    Stitched& block = stitched_[index];
    block.live = true;
    block.used = size;
    block.pieces = std::move(taken);
    return {block.address, size, kStitched + index};
  }

  /// A walk over the pieces of its segment.
  Handle free_piece_at(Address address) const {
    Handle at = std::prev(pieces_.regions().upper_bound(address))->second;
    while (pieces_[at].address + pieces_[at].size <= address) at = pieces_[at].above;
    return at;
  }

  /// Takes apart stitched blocks that are not live until their ranges amount to `bytes`: broken
  /// ones first, then those freed longest ago.
  void collect(Bytes bytes) {
    std::vector<StitchedIndex> cached;
    for (StitchedIndex index = 0; index < stitched_.size(); ++index) {
      if (stitched_[index].size != 0 && !stitched_[index].live) cached.push_back(index);
    }
    std::sort(cached.begin(), cached.end(), [&](StitchedIndex a, StitchedIndex b) {
      return std::make_tuple(stitched_[a].busy == 0, stitched_[a].released) <
             std::make_tuple(stitched_[b].busy == 0, stitched_[b].released);
    });
    for (const StitchedIndex index : cached) {
      if (bytes == 0) break;
      bytes -= std::min(bytes, stitched_[index].size);
      take_apart(index);
    }
  }

  void take_apart(StitchedIndex index) {
    Stitched& block = stitched_[index];
    if (block.busy == 0) lanes_[block.lane].whole.erase(key_of(index));
    Address at = block.address;
    for (const AddressRange part : block.parts) {
      for_each_chunk(part, [&](std::vector<StitchedIndex>& mappers) {
        mappers.erase(std::find(mappers.begin(), mappers.end(), index));
      });
      device_->virtual_memory()->unalias(at);
      at += part.size();
    }
    device_->virtual_memory()->release(block.address);
    virtual_mapped_ -= block.size;
    ++collected_;
    block = {};
    unused_stitched_.push_back(index);
  }

  /// All its chunks are free.
  StitchedIndex new_stitched(Stitched block) {
    StitchedIndex index = static_cast<StitchedIndex>(stitched_.size());
    if (unused_stitched_.empty()) {
      stitched_.emplace_back();
    } else {
      index = unused_stitched_.back();
      unused_stitched_.pop_back();
    }
    stitched_[index] = std::move(block);
    for (const AddressRange part : stitched_[index].parts) {
      for_each_chunk(part, [&](std::vector<StitchedIndex>& mappers) { mappers.push_back(index); });
    }
    lanes_[stitched_[index].lane].whole.insert(key_of(index));
    return index;
  }

  /// By a live stitched block, which need not use all of what it maps.
  bool is_mapped(Handle piece) const {
    const auto& mappers = segments_[pieces_[piece].segment].mappers;
    return std::any_of(mappers.begin(), mappers.end(),
                       [](const auto& of_chunk) { return !of_chunk.empty(); });
  }

  template <typename Visit>
  void for_each_chunk(AddressRange part, const Visit& visit) {
    const auto [first, handle] = *std::prev(pieces_.regions().upper_bound(part.from));
    Segment& segment = segments_[pieces_[handle].segment];
    const std::size_t from = (part.from - first) / options_.chunk;
    const std::size_t to = (part.to - first) / options_.chunk;
    if (segment.mappers.size() < to) segment.mappers.resize(to);
    for (std::size_t chunk = from; chunk < to; ++chunk) visit(segment.mappers[chunk]);
  }

  template <typename Visit>
  void for_each_mapper(const Piece& piece, const Visit& visit) {
    if (piece.small) return;
    const Segment& segment = segments_[piece.segment];
    if (segment.mappers.empty()) return;
    const std::size_t from = (piece.address - segment.address) / options_.chunk;
    const std::size_t to =
        std::min<std::size_t>(from + piece.size / options_.chunk, segment.mappers.size());
    for (std::size_t chunk = from; chunk < to; ++chunk) {
      for (const StitchedIndex index : segment.mappers[chunk]) visit(index);
    }
  }

  FreeBlock key_of(StitchedIndex index) const {
    return {stitched_[index].size, stitched_[index].address, index};
  }
  FreeBlocks& free_of(const Piece& piece) {
    largest_.note(piece.lane);
    return piece.small ? lanes_[piece.lane].small : lanes_[piece.lane].large;
  }
  void insert_free(Handle handle) {
    const Piece& piece = pieces_[handle];
    free_of(piece).insert(FreeBlock{piece.size, piece.address, handle});
    if (!piece.small) lanes_[piece.lane].large_bytes += piece.size;
  }
  void erase_free(Handle handle) {
    const Piece& piece = pieces_[handle];
    free_of(piece).erase(FreeBlock{piece.size, piece.address, handle});
    if (!piece.small) lanes_[piece.lane].large_bytes -= piece.size;
  }

  GmlakeOptions options_;
  ChunkTable<Piece> pieces_;
  std::vector<Segment> segments_;
  std::vector<std::uint32_t> unused_segments_;
  std::vector<std::vector<std::uint32_t>> lane_numbers_;  ///< by pool, by stream
  std::vector<StreamBlocks> lanes_;
  mutable LargestOf largest_;  ///< the largest that each lane could serve
  std::vector<Stitched> stitched_;
  std::vector<StitchedIndex> unused_stitched_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  Bytes virtual_mapped_ = 0;
  Bytes peak_virtual_mapped_ = 0;
  std::uint64_t releases_ = 0;
  std::uint64_t oom_retries_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t stitches_ = 0;
  std::uint64_t stitched_pieces_ = 0;
  std::uint64_t reuses_ = 0;
  std::uint64_t collected_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  GmlakeOptions options;
  options.chunk = alignment_option(spec, "chunk", options.chunk);
  options.frag_limit = size_option(spec, "frag_limit", options.frag_limit);
  options.reuse_limit = whole_option(spec, "reuse_limit", options.reuse_limit);
  constexpr std::string_view kLevels[] = {"0", "1", "2"};
  options.level = choice_option(spec, "level", kLevels, 0);
  options.gc_limit = size_option(spec, "gc_limit", options.gc_limit);
  if (options.chunk < torch::kMinBlockSize || options.chunk > kAddressUnit) {
    throw UsageError("strategy 'gmlake': chunk is a power of two between 512 and 2MiB");
  }
  if (options.reuse_limit == 0 || options.reuse_limit > 1'000'000) {
    throw UsageError("strategy 'gmlake': reuse_limit is a number between 1 and 1000000");
  }
  return std::make_unique<Gmlake>(options, context.device);
}

}  // namespace

/// A caching allocator that stitches free memory of several places together in one range of
/// addresses: GMLake, GMLake/src/CUDACachingAllocator.cpp in intelligent-machine-learning/glake.
/// O(log free blocks) an event and, where memory is shared by stitched blocks, O(chunks).
StrategyInfo gmlake_strategy() {
  return {
      .name = "gmlake",
      .summary = "GMLake: a caching allocator that stitches free pieces in virtual memory.",
      .options = {{"chunk", "SIZE", "2MiB",
                   "Unit of physical memory; large requests are multiples."},
                  {"frag_limit", "SIZE", "512MiB", "Requests from this size on may be stitched."},
                  {"reuse_limit", "N", "10",
                   "A stitched block serves requests down to this part of its size."},
                  {"level", "0|1|2", "0",
                   "Stitch before asking the device, after it refused, or after a release too."},
                  {"gc_limit", "SIZE", "1000GiB",
                   "Stitched addresses above which old ones are undone."}},
      .make = make,
      .stitches = true,
      .presets = {{"frag_limit=256MiB", 4}}};
}

}  // namespace memreplay
