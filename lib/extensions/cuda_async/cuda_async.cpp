#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/cuda_async/completion.hpp"
#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/driver_blocks.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct CudaAsyncOptions {
  Bytes threshold = 0;
  bool follow = true;
  bool opportunistic = true;
  bool internal = true;
  Bytes chunk = 32 * kMiB;
  Bytes granularity = 2 * kMiB;
  Bytes preallocate = 0;
  Bytes align = 256;
  std::uint64_t sync_every = 0;  ///< events; 0: never
  bool sync_at_markers = false;
};

constexpr std::uint32_t kMixed = UINT32_MAX;

struct Piece : Chunk {
  std::uint32_t owner = kMixed;  ///< the stream that freed it; kMixed: several did
  bool open = false;             ///< free, and any stream may use it
  std::uint64_t freed = 0;       ///< when, the latest of its parts
  Handle older = kNoHandle;      ///< links the free ones that are not open, by time of free
  Handle newer = kNoHandle;
};

/// The stream-ordered pool of the CUDA driver (cudaMallocAsync): a model after its documentation.
/// Free neighbours join when one stream freed both, and when any stream may use both; what is
/// joined was freed with its latest part. O(1) to O(log n) a call; a dependency that is followed
/// costs a look at the blocks of the other stream that are large enough; a synchronisation costs
/// O(frees since the last + regions).
class CudaAsync final : public StrategyOn<CudaAsync>, private ProgramSteps {
 public:
  CudaAsync(const CudaAsyncOptions& options, const Completion& completion, DeviceModel& device)
      : StrategyOn(device), options_(options), completion_(completion) {
    // In whole granules, as more than the threshold would go back at once.
    const Bytes first = options_.preallocate / options_.granularity * options_.granularity;
    if (first == 0) return;
    meet(0);
    grow(0, {first, options_.align});
  }

  std::optional<Placement> allocate(const Request& request) override {
    begin_event();
    const auto placement = place(request);
    end_event();
    return placement;
  }

  void free(Handle block, FreeOrigin giver) override {
    giver = giver.or_owner({.stream = static_cast<StreamIndex>(chunks_[block].owner)});
    begin_event();
    meet(giver.stream);
    Piece& piece = chunks_[block];
    live_bytes_ -= piece.size;
    piece.owner = giver.stream;
    piece.freed = completion_.now();
    piece.open = options_.opportunistic && completion_.done(piece.freed);
    put(block, newest_);
    end_event();
  }

  Abilities abilities() override { return {.steps = this}; }
  void marker() override {
    if (options_.sync_at_markers) synchronise(options_.threshold);
  }

  void empty_cache() override {
    ++syncs_;
    synchronise(0);
  }

  FreeSpace free_space() const override {
    FreeSpace space{.total = held_bytes_ - live_bytes_,
                    .largest = std::max(open_.largest(), closed_.largest())};
    if (several_) return space;
    for (const FreeBlocks& list : of_stream_) {
      space.largest = std::max(space.largest, list.largest());
    }
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    const auto add = [&](const FreeBlock& block) {
      ranges.push_back({block.rank, block.rank + block.size});
    };
    for (const FreeBlocks& list : of_stream_) list.for_each(add);
    open_.for_each([&](const FreeBlock& block) {
      if (chunks_[block.block].owner == kMixed) add(block);
    });
    return ranges;
  }

  StrategyUsage usage() const override {
    return {.oom_retries = retries_, .syncs = syncs_, .stream_waits = waits_};
  }

  Testimony testimony() const override {
    return {.counters = {{"reserved_mem_current", static_cast<std::int64_t>(held_bytes_)},
                         {"reserved_mem_high", static_cast<std::int64_t>(peak_held_)},
                         {"used_mem_current", static_cast<std::int64_t>(live_bytes_)},
                         {"used_mem_high", static_cast<std::int64_t>(peak_live_)},
                         {"synchronisations", synchronisations_},
                         {"reuses_followed", followed_},
                         {"reuses_done", done_},
                         {"reuses_internal", static_cast<std::int64_t>(waits_)}},
            .remarks = {"a model: the driver's pool is closed; this follows its documentation"}};
  }

  MemoryState memory_state() const override { return chunks_.memory_state(); }

 private:
  /// All frees of a stream up to a time are ordered before what another does now.
  struct Dependency {
    std::uint32_t on;
    std::uint64_t freed;
  };

  void begin_event() {
    completion_.tick();
    if (!options_.opportunistic) return;
    while (oldest_ != kNoHandle && completion_.done(chunks_[oldest_].freed)) open(oldest_);
  }
  void end_event() {
    if (options_.sync_every != 0 && completion_.now() % options_.sync_every == 0) {
      synchronise(options_.threshold);
    }
  }

  std::optional<Placement> place(const Request& request) {
    const Wanted wanted{round_up(request.size, options_.align),
                        std::max(options_.align, request.alignment)};
    if (wanted.size < request.size) return std::nullopt;
    meet(request.stream);
    Handle block = find(request.stream, wanted);
    if (block == kNoHandle) block = grow(request.stream, wanted);
    if (block == kNoHandle) {
      ++retries_;
      ++syncs_;
      synchronise(0);
      block = find(request.stream, wanted);
      if (block == kNoHandle) block = grow(request.stream, wanted);
    }
    if (block == kNoHandle) return std::nullopt;
    block = take(block, wanted);
    Piece& taken = chunks_[block];
    taken.owner = request.stream;
    taken.requested = request.size;
    live_bytes_ += taken.size;
    peak_live_ = std::max(peak_live_, live_bytes_);
    return Placement{taken.address, taken.size, block};
  }

  Handle find(StreamIndex stream, const Wanted& wanted) {
    Handle block = best_fit(of_stream_[stream], wanted);
    if (block != kNoHandle || !several_) return block;
    if (options_.follow) block = find_ordered_before(stream, wanted);
    if (block != kNoHandle) {
      ++followed_;
      return block;
    }
    block = best_fit(open_, wanted);
    if (block != kNoHandle) {
      ++done_;
      return block;
    }
    if (options_.internal) block = best_fit(closed_, wanted);
    if (block == kNoHandle) return kNoHandle;
    ++waits_;
    const Piece& piece = chunks_[block];
    auto& known = dependencies_[stream];
    const auto same = std::find_if(known.begin(), known.end(),
                                   [&](const auto& other) { return other.on == piece.owner; });
    if (same == known.end()) {
      known.push_back({piece.owner, piece.freed});
    } else {
      same->freed = std::max(same->freed, piece.freed);
    }
    return block;
  }

  Handle find_ordered_before(StreamIndex stream, const Wanted& wanted) const {
    FreeBlock best{UINT64_MAX, UINT64_MAX, kNoHandle};
    for (const Dependency& dependency : dependencies_[stream]) {
      const FreeBlocks& list = of_stream_[dependency.on];
      for (auto at = list.lower_bound(wanted.size); !at.at_end(); at = list.next(at)) {
        const FreeBlock& block = list[at];
        if (!(block < best)) break;
        if (chunks_[block.block].freed > dependency.freed) continue;
        if (wanted.fits(block.rank, block.size)) best = block;
      }
    }
    return best.block;
  }

  Handle grow(StreamIndex stream, const Wanted& wanted) {
    const Bytes size =
        wanted.size < options_.chunk ? options_.chunk : round_up(wanted.size, options_.granularity);
    if (size < wanted.size) return kNoHandle;
    const auto region = obtain_aligned(*device_, size, wanted.alignment);
    if (!region) return kNoHandle;
    held_bytes_ += region->size;
    peak_held_ = std::max(peak_held_, held_bytes_);
    // Nobody has used it yet.
    Piece piece;
    piece.owner = stream;
    piece.open = options_.opportunistic;
    piece.freed = completion_.now();
    const Handle block = chunks_.add_region(region->address, region->size, piece);
    list(block, newest_);
    return block;
  }

  /// Cuts the request out of a free block; what is left over is free as it was.
  Handle take(Handle block, const Wanted& wanted) {
    const Handle older = chunks_[block].older;
    unlist(block);
    chunks_[block].in_use = true;
    if (const Bytes lead = wanted.lead(chunks_[block].address); lead != 0) {
      const Handle upper = chunks_.split(block, lead);
      chunks_[block].in_use = false;
      list(block, older);
      block = upper;
      chunks_[block].in_use = true;
    }
    if (wanted.size < chunks_[block].size) list(chunks_.split(block, wanted.size), older);
    return block;
  }

  /// A block becomes free, or open, and joins its neighbours. Not open, it comes after `older`.
  void put(Handle block, Handle older) {
    const auto joins = [&](Handle neighbour) {
      if (neighbour == kNoHandle) return false;
      Piece& piece = chunks_[block];
      const Piece& other = chunks_[neighbour];
      const bool same = piece.owner == other.owner;
      if (other.in_use || !(same || (piece.open && other.open))) return false;
      if (older == neighbour) older = other.older;
      unlist(neighbour);
      if (!same) piece.owner = kMixed;
      piece.open = piece.open && other.open;
      piece.freed = std::max(piece.freed, other.freed);
      return true;
    };
    if (const Handle below = chunks_[block].below; joins(below)) {
      Piece& lower = chunks_[below];
      lower.owner = chunks_[block].owner;
      lower.open = chunks_[block].open;
      lower.freed = chunks_[block].freed;
      chunks_.absorb_above(below);
      block = below;
    }
    if (joins(chunks_[block].above)) chunks_.absorb_above(block);
    chunks_[block].in_use = false;
    list(block, older);
  }

  void open(Handle block) {
    unlist(block);
    chunks_[block].open = true;
    put(block, kNoHandle);
  }

  void list(Handle block, Handle older) {
    const Piece& piece = chunks_[block];
    const FreeBlock entry{piece.size, piece.address, block};
    if (piece.owner != kMixed) of_stream_[piece.owner].insert(entry);
    if (several_) (piece.open ? open_ : closed_).insert(entry);
    if (!piece.open) link(block, older);
  }

  void unlist(Handle block) {
    const Piece& piece = chunks_[block];
    const FreeBlock entry{piece.size, piece.address, block};
    if (piece.owner != kMixed) of_stream_[piece.owner].erase(entry);
    if (several_) (piece.open ? open_ : closed_).erase(entry);
    if (!piece.open) unlink(block);
  }

  void link(Handle block, Handle older) {
    Piece& piece = chunks_[block];
    piece.older = older;
    Handle& next = older == kNoHandle ? oldest_ : chunks_[older].newer;
    piece.newer = next;
    (next == kNoHandle ? newest_ : chunks_[next].older) = block;
    next = block;
  }

  void unlink(Handle block) {
    const Piece& piece = chunks_[block];
    (piece.older == kNoHandle ? oldest_ : chunks_[piece.older].newer) = piece.newer;
    (piece.newer == kNoHandle ? newest_ : chunks_[piece.newer].older) = piece.older;
  }

  /// With one stream alone what others may use is not kept.
  void meet(StreamIndex stream) {
    if (stream < met_.size() && met_[stream]) return;
    if (stream >= met_.size()) {
      met_.resize(stream + 1);
      of_stream_.resize(stream + 1);
      dependencies_.resize(stream + 1);
    }
    met_[stream] = true;
    if (++streams_ != 2) return;
    several_ = true;
    for (const FreeBlocks& blocks : of_stream_) {
      blocks.for_each([&](const FreeBlock& block) {
        (chunks_[block.block].open ? open_ : closed_).insert(block);
      });
    }
  }

  /// Everything freed is any stream's; what is wholly free and too much goes back, from above.
  void synchronise(Bytes threshold) {
    ++synchronisations_;
    completion_.synchronise();
    while (oldest_ != kNoHandle) open(oldest_);
    if (held_bytes_ <= threshold) return;
    std::vector<Handle> unused;
    for (const auto& [address, first] : chunks_.regions()) {
      if (!chunks_[first].in_use && chunks_.fills_region(first)) unused.push_back(first);
    }
    for (; !unused.empty() && held_bytes_ > threshold; unused.pop_back()) {
      const Handle region = unused.back();
      unlist(region);
      held_bytes_ -= chunks_[region].size;
      device_->give_back(chunks_[region].address);
      chunks_.remove_region(region);
    }
  }

  CudaAsyncOptions options_;
  Completion completion_;
  ChunkTable<Piece> chunks_;
  std::vector<FreeBlocks> of_stream_;
  FreeBlocks open_;    ///< for all streams; used only where there are several
  FreeBlocks closed_;  ///< likewise
  Handle oldest_ = kNoHandle;
  Handle newest_ = kNoHandle;
  std::vector<std::vector<Dependency>> dependencies_;
  std::vector<bool> met_;
  std::uint64_t streams_ = 0;
  bool several_ = false;
  Bytes held_bytes_ = 0;
  Bytes peak_held_ = 0;
  Bytes live_bytes_ = 0;
  Bytes peak_live_ = 0;
  std::uint64_t retries_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t waits_ = 0;
  std::int64_t synchronisations_ = 0;
  std::int64_t followed_ = 0;
  std::int64_t done_ = 0;
};

/// The pool itself, on a device that has it.
std::unique_ptr<Strategy> make_real(const StrategySpec& spec, const CudaAsyncOptions& options,
                                    DeviceModel& device) {
  for (const std::string_view key :
       {"chunk", "granularity", "preallocate", "align", "sync_every", "completion"}) {
    if (!find_option(spec, key)) continue;
    throw UsageError(fmt::format(
        "strategy 'cuda-async': {} belongs to the model; on a GPU the driver decides", key));
  }
  return make_driver_blocks(device, {.kind = DriverAllocatorOptions::Kind::stream_ordered,
                                     .release_threshold = options.threshold,
                                     .reuse_follow_event_dependencies = options.follow,
                                     .reuse_allow_opportunistic = options.opportunistic,
                                     .reuse_allow_internal_dependencies = options.internal});
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  CudaAsyncOptions options;
  options.threshold =
      find_option(spec, "threshold") == "max" ? UINT64_MAX : size_option(spec, "threshold", 0);
  options.follow = bool_option(spec, "reuse_follow_event_dependencies", true);
  options.opportunistic = bool_option(spec, "reuse_allow_opportunistic", true);
  options.internal = bool_option(spec, "reuse_allow_internal_dependencies", true);
  if (driver_has(context, DriverAllocatorOptions::Kind::stream_ordered)) {
    return make_real(spec, options, context.device);
  }
  options.chunk = size_option(spec, "chunk", options.chunk);
  options.granularity = size_option(spec, "granularity", options.granularity);
  options.preallocate = size_option(spec, "preallocate", 0);
  options.align = alignment_option(spec, "align", 256);
  if (options.chunk == 0 || options.granularity == 0) {
    throw UsageError("strategy 'cuda-async': chunk and granularity are above 0");
  }
  const auto sync = find_option(spec, "sync_every").value_or("never");
  options.sync_at_markers = sync == "markers";
  if (sync != "never" && sync != "markers") {
    const auto events = parse_whole(sync);
    if (!events || *events == 0) {
      throw UsageError(fmt::format(
          "strategy 'cuda-async': sync_every is '{}'; expected never, markers or a number of "
          "events",
          sync));
    }
    options.sync_every = *events;
  }
  return std::make_unique<CudaAsync>(options, Completion::from(spec), context.device);
}

}  // namespace

/// The driver's stream-ordered pool (cudaMallocAsync); a model of it where the device has none.
StrategyInfo cuda_async_strategy() {
  return {
      .name = "cuda-async",
      .summary = "The driver's pool (cudaMallocAsync); without a GPU a model of it.",
      .options = {{"threshold", "SIZE|max", "0",
                   "Memory that may stay reserved at a synchronisation; unused memory above it is "
                   "returned."},
                  {"reuse_follow_event_dependencies", "true|false", "true",
                   "Reuse across streams where an earlier wait of the pool orders it."},
                  {"reuse_allow_opportunistic", "true|false", "true",
                   "Reuse across streams where the work on the block is over."},
                  {"reuse_allow_internal_dependencies", "true|false", "true",
                   "Reuse across streams by making one wait for the other."},
                  {"chunk", "SIZE", "32MiB", "The smallest growth of the pool."},
                  {"granularity", "SIZE", "2MiB", "Requests above a chunk are rounded up to it."},
                  {"preallocate", "SIZE", "0", "What the pool holds from the start."},
                  {"align", "SIZE", "256", "Sizes and addresses are multiples of this."},
                  {"sync_every", "never|N|markers", "never",
                   "When the program synchronises: every N requests and frees, or at markers."},
                  Completion::option()},
      .make = make,
      .scales = true,
      .known_as = {{"cudamallocasync"}, {"mallocasync"}, {"streamordered"}},
      .presets = {{"threshold=0", 2}, {"threshold=max", 2}}};
}

}  // namespace memreplay
