#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/first_fit.hpp"
#include "strategy/parts/largest_of.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kAlign = 256;

struct RmmArenaOptions {
  Bytes arena_size = 0;
  Bytes superblock_min = kMiB;
  bool size_classes = false;
  bool size_class_quirk = false;
};

struct Piece : Chunk {
  std::uint32_t superblock = 0;
  StreamIndex stream = 0;  ///< a block: who asked for it
};

struct Superblock {
  Handle first = kNoHandle;  ///< its lowest piece
  Bytes size = 0;            ///< 0: the number is not in use
  std::uint32_t arena = 0;
  Bytes largest = 0;  ///< the largest free piece, as its arena has it
  FirstFit free;
};

/// RMM's arena_memory_resource (rapidsai/rmm, detail/arena.hpp). A call costs a search of an arena
/// for the superblock and one of the superblock for the block (FirstFit), and as much to note the
/// change; a defragmentation costs O(superblocks).
class RmmArena final : public StrategyOn<RmmArena> {
 public:
  RmmArena(const RmmArenaOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options), arenas_(1) {
    const auto region = obtain_aligned(*device_, options_.arena_size, kAlign);
    if (!region) return;
    base_ = region->aligned;
    region_ = chunks_.add_region(base_, options_.arena_size);
    add_superblock(region_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Wanted wanted{charged(request.size), std::max(kAlign, request.alignment)};
    if (wanted.size < request.size || region_ == kNoHandle) return std::nullopt;
    Handle block = serve(wanted, request.stream);
    if (block == kNoHandle) {
      ++defragmentations_;
      defragment();
      block = serve(wanted, request.stream);
    }
    if (block == kNoHandle) return std::nullopt;
    Piece& taken = chunks_[block];
    taken.stream = request.stream;
    taken.requested = request.size;
    live_bytes_ += taken.size;
    touched_ = std::max(touched_, taken.address + taken.size - base_);
    return Placement{taken.address, taken.size, block};
  }

  void free(Handle block, FreeOrigin giver) override {
    giver = giver.or_owner({.stream = chunks_[block].stream});
    const Piece& piece = chunks_[block];
    const std::uint32_t arena = superblocks_[piece.superblock].arena;
    const bool large = piece.size > options_.superblock_min;
    if (large) ++stream_syncs_;
    if (!(large && arena == kGlobal) && arena != arena_of(giver.stream)) {
      ++stream_syncs_;
      ++frees_elsewhere_;
    }
    live_bytes_ -= piece.size;
    block = join_inside(block);
    note(chunks_[block].superblock);
    if (arena == kGlobal) join_empty(block);
  }

  FreeSpace free_space() const override {
    FreeSpace space{.obtainable = 0};
    if (region_ != kNoHandle) space.total = options_.arena_size - live_bytes_;
    space.largest = largest_.get([&](std::uint32_t arena) { return arenas_[arena].largest(); });
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const Superblock& superblock : superblocks_) {
      superblock.free.for_each([&](Address from, Bytes size) {
        ranges.push_back({from, from + size});
      });
    }
    return ranges;
  }

  StrategyUsage usage() const override {
    return {.oom_retries = defragmentations_, .syncs = defragmentations_};
  }

  Testimony testimony() const override {
    return {.counters = {
                {"touched", static_cast<std::int64_t>(touched_)},
                {"superblocks", static_cast<std::int64_t>(superblocks_.size() - unused_.size())},
                {"superblocks_of_streams", taken_},
                {"stream_syncs", stream_syncs_},
                {"cross_arena_frees", frees_elsewhere_}}};
  }

  MemoryState memory_state() const override { return chunks_.memory_state(); }

 private:
  static constexpr std::uint32_t kGlobal = 0;

  Bytes charged(Bytes size) const {
    if (!options_.size_classes || size <= 2 * kKiB) return round_up(size, kAlign);
    const Bytes size_class = round_up(size, std::bit_floor(size - 1) / 4);
    if (!options_.size_class_quirk || size_class != 56 * kKiB) return size_class;
    return size <= 54 * kKiB ? 54 * kKiB : 64 * kKiB;
  }

  std::uint32_t arena_of(StreamIndex stream) {
    if (stream + 1u >= arenas_.size()) arenas_.resize(stream + 2u);
    return stream + 1u;
  }
  Superblock& superblock_of(Handle piece) { return superblocks_[chunks_[piece].superblock]; }
  bool is_empty(Handle piece) const {
    return !chunks_[piece].in_use &&
           chunks_[piece].size == superblocks_[chunks_[piece].superblock].size;
  }

  Handle serve(const Wanted& wanted, StreamIndex stream) {
    const bool large = wanted.size > options_.superblock_min;
    const std::uint32_t own = arena_of(stream);
    Handle block = large ? kNoHandle : find(own, wanted);
    if (block == kNoHandle) {
      block = find(kGlobal, wanted);
      if (block == kNoHandle) return kNoHandle;
      if (is_empty(block)) cut_superblock(block, wanted);
      if (!large) move_superblock(chunks_[block].superblock, own);
    }
    return take(block, wanted);
  }

  /// The lowest block of the arena that serves.
  Handle find(std::uint32_t arena, const Wanted& wanted) const {
    Address from = 0;
    while (true) {
      const std::uint32_t number = arenas_[arena].lowest({.size = wanted.size}, from);
      if (number == kNoHandle) return kNoHandle;
      const Handle block = superblocks_[number].free.lowest(wanted);
      if (block != kNoHandle) return block;
      from = address_of(number) + 1;  // what is long enough there is not aligned
    }
  }

  /// An empty superblock keeps what the request needs; the rest is one of its own, if long enough.
  void cut_superblock(Handle block, const Wanted& wanted) {
    const Address from = chunks_[block].address;
    const Bytes size = chunks_[block].size;
    const Bytes kept = std::max(options_.superblock_min, wanted.lead(from) + wanted.size);
    if (size < kept + options_.superblock_min) return;
    Superblock& superblock = superblock_of(block);
    superblock.size = kept;
    superblock.free.replace(from, from, kept, block);
    note(chunks_[block].superblock);
    add_superblock(chunks_.split(block, kept));
  }

  void move_superblock(std::uint32_t number, std::uint32_t arena) {
    Superblock& moved = superblocks_[number];
    changed_arena(moved.arena).erase(address_of(number));
    changed_arena(arena).insert(address_of(number), moved.largest, number);
    taken_ += (arena != kGlobal) - (moved.arena != kGlobal);
    moved.arena = arena;
  }

  FirstFit& changed_arena(std::uint32_t arena) {
    largest_.note(arena);
    return arenas_[arena];
  }

  Address address_of(std::uint32_t superblock) const {
    return chunks_[superblocks_[superblock].first].address;
  }

  /// The free blocks of the superblock have changed.
  void note(std::uint32_t number) {
    Superblock& superblock = superblocks_[number];
    const Bytes largest = superblock.free.largest();
    if (std::exchange(superblock.largest, largest) == largest) return;
    const Address address = address_of(number);
    changed_arena(superblock.arena).replace(address, address, largest, number);
  }

  Handle take(Handle block, const Wanted& wanted) {
    FirstFit& free = superblock_of(block).free;
    if (const Bytes lead = wanted.lead(chunks_[block].address); lead != 0) {
      const Handle upper = chunks_.split(block, lead);
      free.replace(chunks_[block].address, chunks_[block].address, lead, block);
      block = upper;
      free.insert(chunks_[block].address, chunks_[block].size, block);
    }
    const Address address = chunks_[block].address;
    chunks_[block].in_use = true;
    if (wanted.size == chunks_[block].size) {
      free.erase(address);
    } else {
      const Handle rest = chunks_.split(block, wanted.size);
      free.replace(address, chunks_[rest].address, chunks_[rest].size, rest);
    }
    note(chunks_[block].superblock);
    return block;
  }

  /// A block becomes free and joins its free neighbours in the superblock.
  Handle join_inside(Handle block) {
    FirstFit& free = superblock_of(block).free;
    const auto joins = [&](Handle neighbour) {
      return neighbour != kNoHandle && !chunks_[neighbour].in_use &&
             chunks_[neighbour].superblock == chunks_[block].superblock;
    };
    const Handle below = chunks_[block].below;
    const Handle above = chunks_[block].above;
    const bool joins_below = joins(below);
    const bool joins_above = joins(above);
    const Address old = joins_above ? chunks_[above].address : 0;
    chunks_[block].in_use = false;
    if (joins_above) chunks_.absorb_above(block);
    if (joins_below) {
      if (joins_above) free.erase(old);
      chunks_.absorb_above(below);
      free.replace(chunks_[below].address, chunks_[below].address, chunks_[below].size, below);
      return below;
    }
    const Piece& piece = chunks_[block];
    if (joins_above) {
      free.replace(old, piece.address, piece.size, block);
    } else {
      free.insert(piece.address, piece.size, block);
    }
    return block;
  }

  /// A superblock of the global arena, if it is empty, joins its empty neighbours there.
  void join_empty(Handle block) {
    if (!is_empty(block)) return;
    const auto joins = [&](Handle neighbour) {
      return neighbour != kNoHandle && is_empty(neighbour) &&
             superblocks_[chunks_[neighbour].superblock].arena == kGlobal;
    };
    while (joins(chunks_[block].above)) absorb_superblock_above(block);
    if (const Handle below = chunks_[block].below; joins(below)) absorb_superblock_above(below);
  }

  void absorb_superblock_above(Handle block) {
    const Handle above = chunks_[block].above;
    Superblock& absorbed = superblock_of(above);
    changed_arena(kGlobal).erase(chunks_[above].address);
    absorbed.free.erase(chunks_[above].address);
    absorbed.size = 0;
    unused_.push_back(chunks_[above].superblock);
    chunks_.absorb_above(block);
    const Piece& piece = chunks_[block];
    superblock_of(block).size = piece.size;
    superblock_of(block).free.replace(piece.address, piece.address, piece.size, block);
    note(piece.superblock);
  }

  /// One of the global arena over a free piece.
  void add_superblock(Handle first) {
    auto number = static_cast<std::uint32_t>(superblocks_.size());
    if (unused_.empty()) {
      superblocks_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    Piece& piece = chunks_[first];
    piece.superblock = number;
    Superblock& superblock = superblocks_[number];
    superblock.first = first;
    superblock.size = superblock.largest = piece.size;
    superblock.arena = kGlobal;
    superblock.free.insert(piece.address, piece.size, first);
    changed_arena(kGlobal).insert(piece.address, piece.size, number);
  }

  /// All superblocks of all arenas go back to the global one.
  void defragment() {
    if (taken_ == 0) return;
    std::vector<std::uint32_t> taken;
    for (std::uint32_t number = 0; number < superblocks_.size(); ++number) {
      if (superblocks_[number].arena != kGlobal) taken.push_back(number);
    }
    for (const std::uint32_t number : taken) move_superblock(number, kGlobal);
    for (const std::uint32_t number : taken) {
      // It may have been joined to one before.
      if (superblocks_[number].size != 0) join_empty(superblocks_[number].first);
    }
  }

  RmmArenaOptions options_;
  ChunkTable<Piece> chunks_;
  std::vector<Superblock> superblocks_;
  std::vector<std::uint32_t> unused_;  ///< numbers of superblocks
  std::vector<FirstFit> arenas_;       ///< the global one, then one for each stream
  mutable LargestOf largest_;          ///< free piece of each arena
  Handle region_ = kNoHandle;
  Address base_ = 0;
  Bytes live_bytes_ = 0;
  Bytes touched_ = 0;
  std::int64_t taken_ = 0;  ///< superblocks of streams
  std::uint64_t defragmentations_ = 0;
  std::int64_t stream_syncs_ = 0;
  std::int64_t frees_elsewhere_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  RmmArenaOptions options;
  options.superblock_min = size_option(spec, "superblock_min", kMiB);
  options.size_classes = bool_option(spec, "size_classes", false);
  options.size_class_quirk = bool_option(spec, "size_class_quirk", false);
  const Bytes half = std::max(options.superblock_min, context.device.free_bytes() / 2);
  options.arena_size = size_option(spec, "arena_size", half) / kAlign * kAlign;
  if (options.superblock_min == 0 || options.superblock_min % kAlign != 0 ||
      options.superblock_min > (Bytes{1} << 62)) {
    throw UsageError(
        fmt::format("strategy 'rmm-arena': superblock_min is {}; expected a multiple of {}",
                    options.superblock_min, kAlign));
  }
  if (options.arena_size < options.superblock_min) {
    throw UsageError(
        fmt::format("strategy 'rmm-arena': arena_size is {} bytes; expected at least {}, one "
                    "superblock",
                    options.arena_size, options.superblock_min));
  }
  return std::make_unique<RmmArena>(options, context.device);
}

std::string arena_for(std::optional<Bytes> room) {
  if (!room) return "arena_size=fit";
  return *room < kMiB ? "" : fmt::format("arena_size={}", *room / kAlign * kAlign);
}

}  // namespace

/// RMM's arenas: superblocks that streams take from one region.
StrategyInfo rmm_arena_strategy() {
  return {.name = "rmm-arena",
          .summary = "RMM's arenas: streams take superblocks out of one region and keep them.",
          .options = {{"arena_size", "SIZE|fit", "half of what the device has free",
                       "The region, taken at the start; a device without a capacity counts as "
                       "1 TiB. fit: the smallest in which the recording runs."},
                      {"superblock_min", "SIZE", "1MiB",
                       "The smallest superblock; longer requests are served by all in common."},
                      {"size_classes", "true|false", "false",
                       "Round requests up to four sizes for each doubling."},
                      {"size_class_quirk", "true|false", "false",
                       "54 KiB instead of 56 KiB among them, as the original's table has it."}},
          .make = make,
          .keeps_regions = true,
          .takes_at_once = "arena_size",
          .fits = "arena_size",
          .presets = {{.group = 2, .options_for = arena_for}}};
}

}  // namespace memreplay
