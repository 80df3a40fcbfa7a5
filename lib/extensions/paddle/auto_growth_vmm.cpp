#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/error.hpp"
#include "core/range_set.hpp"
#include "core/text.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kVmmAlignment = 256;
constexpr Bytes kVmmGranule = 2 * kMiB;
/// Beyond it sizes would wrap.
constexpr Bytes kLargestVmmRequest = Bytes{1} << 60;

struct VmmBlock : PlacedBlock {
  Bytes alignment = kVmmAlignment;
  StreamIndex stream = 0;
  bool free_requested = false;
};

/// One reservation, with memory behind its low end.
struct VmmArena {
  Address from = 0;
  Address to = 0;     ///< end of the mapped memory
  Address limit = 0;  ///< end of the addresses
  RangeSet holes;
  std::map<Address, Handle> live;

  /// What is free at the upper end of the memory.
  Bytes tail() const {
    const auto hole = to > from ? holes.at(to - 1) : std::nullopt;
    return hole ? hole->size() : 0;
  }
};

/// Paddle's VirtualMemoryAutoGrowthBestFitAllocator (paddle/phi/core/memory/allocation) with its
/// TotalMemoryCompactor, one for each stream. O(log blocks) a call; O(live) where it compacts.
class AutoGrowthVmm final : public StrategyOn<AutoGrowthVmm> {
 public:
  AutoGrowthVmm(bool compacts, DeviceModel& device) : StrategyOn(device), compacts_(compacts) {}

  std::optional<Placement> allocate(const Request& request) override {
    moved_.clear();
    if (request.size > kLargestVmmRequest) return std::nullopt;
    const Bytes size = round_up(request.size, kVmmAlignment);
    const Bytes alignment = std::max(kVmmAlignment, request.alignment);
    VmmArena& arena = arena_of(request.stream);
    auto hole = arena.holes.smallest(size, alignment);
    if (!hole && extend(arena, size + alignment - kVmmAlignment)) {
      hole = arena.holes.smallest(size, alignment);
    }
    if (!hole) return std::nullopt;
    const Address at = round_up(hole->from, alignment);
    const Bytes rest = hole->to - at - size;
    const bool splits = rest > kVmmAlignment || hole->to - at > 2 * size;
    VmmBlock block;
    block.address = at;
    block.size = splits ? size : size + rest;
    block.requested = request.size;
    block.alignment = alignment;
    block.stream = request.stream;
    arena.holes.erase({at, at + block.size});
    const Handle handle = blocks_.add(block);
    arena.live.emplace(at, handle);
    return Placement{at, block.size, handle};
  }

  void request_free(Handle handle) override { blocks_[handle].free_requested = true; }

  void free(Handle handle, FreeOrigin) override {
    const VmmBlock block = blocks_.remove(handle);
    VmmArena& arena = arenas_[block.stream];
    arena.live.erase(block.address);
    arena.holes.insert({block.address, block.address + block.size});
  }

  FreeSpace free_space() const override {
    FreeSpace space;
    for (const VmmArena& arena : arenas_) {
      space.total += arena.holes.total();
      space.largest = std::max(space.largest, arena.holes.largest());
    }
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const VmmArena& arena : arenas_) {
      for (const auto& [from, to] : arena.holes.ranges()) ranges.push_back({from, to});
    }
    return ranges;
  }

  StrategyUsage usage() const override {
    return {.oom_retries = compactions_,
            .syncs = 2 * compactions_,
            .moved = compacts_ ? &moved_ : nullptr};
  }

  Testimony testimony() const override {
    Testimony said{.counters = {{"compactions", static_cast<std::int64_t>(compactions_)},
                                {"moved_blocks", static_cast<std::int64_t>(moved_blocks_)},
                                {"moved_bytes", static_cast<std::int64_t>(moved_bytes_)}},
                   .remarks = {"a model that follows the source of Paddle's auto_growth over "
                               "virtual memory, not compared with recordings of it"}};
    if (compactions_ > 0) {
      said.remarks.push_back(fmt::format("{} {} moved {} of live blocks", human_count(compactions_),
                                         compactions_ == 1 ? "compaction" : "compactions",
                                         human_size(moved_bytes_)));
    }
    return said;
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (std::size_t stream = 0; stream < arenas_.size(); ++stream) {
      const VmmArena& arena = arenas_[stream];
      if (arena.to == arena.from) continue;
      regions.push_back({.address = arena.from,
                         .size = arena.to - arena.from,
                         .stream = static_cast<StreamIndex>(stream),
                         .expandable = true,
                         .blocks = {}});
    }
    return tiled(std::move(regions), {blocks_.blocks().begin(), blocks_.blocks().end()});
  }

 private:
  VmmArena& arena_of(StreamIndex stream) {
    if (arenas_.size() <= stream) arenas_.resize(stream + 1);
    VmmArena& arena = arenas_[stream];
    if (arena.limit != 0) return arena;
    const Bytes length = round_up(device_->total_bytes(), kVmmGranule);
    if (const auto at = device_->virtual_memory()->reserve(length)) {
      arena.from = arena.to = *at;
      arena.limit = *at + length;
    }
    return arena;
  }

  /// Who compacts asks for all of it first.
  bool extend(VmmArena& arena, Bytes size) {
    if (!compacts_) return map(arena, size - std::min(size, arena.tail()));
    if (map(arena, size)) return true;
    if (arena.to == arena.from) return false;
    compact(arena);
    const Bytes tail = arena.tail();
    return tail >= size || map(arena, size - tail);
  }

  /// As its AlignedAllocator asks: a whole alignment more.
  bool map(VmmArena& arena, Bytes size) {
    const Bytes bytes = round_up(size + kVmmAlignment, kVmmGranule);
    if (bytes > arena.limit - arena.to) return false;
    if (!device_->virtual_memory()->map(arena.to, bytes, kVmmGranule)) return false;
    arena.holes.insert({arena.to, arena.to + bytes});
    arena.to += bytes;
    return true;
  }

  /// Moves live blocks to the low end, but for those that a stream still uses.
  void compact(VmmArena& arena) {
    ++compactions_;
    std::map<Address, Handle> live;
    RangeSet holes;
    Address end = arena.from;
    const auto keep_free_up_to = [&](Address to) {
      if (end < to) holes.insert({end, to});
    };
    for (const auto& [from, handle] : arena.live) {
      VmmBlock& block = blocks_[handle];
      if (!block.free_requested) block.address = round_up(end, block.alignment);
      keep_free_up_to(block.address);
      if (block.address != from) note_moved(block, handle);
      live.emplace(block.address, handle);
      end = block.address + block.size;
    }
    keep_free_up_to(arena.to);
    arena.live = std::move(live);
    arena.holes = std::move(holes);
  }

  void note_moved(const VmmBlock& block, Handle handle) {
    moved_.push_back({block.address, block.size, handle});
    ++moved_blocks_;
    moved_bytes_ += block.size;
  }

  bool compacts_;
  std::vector<VmmArena> arenas_;  ///< by stream
  HandleTable<VmmBlock> blocks_;
  std::vector<Placement> moved_;  ///< by the last request
  std::uint64_t compactions_ = 0;
  std::uint64_t moved_blocks_ = 0;
  Bytes moved_bytes_ = 0;
};

std::unique_ptr<Strategy> make_auto_growth_vmm(const StrategySpec& spec,
                                               const StrategyContext& context) {
  if (context.device.virtual_memory() == nullptr) {
    throw UsageError("strategy 'auto-growth-vmm' needs a device with virtual memory");
  }
  return std::make_unique<AutoGrowthVmm>(bool_option(spec, "native_compact", false),
                                         context.device);
}

}  // namespace

StrategyInfo auto_growth_vmm_strategy() {
  return {.name = "auto-growth-vmm",
          .summary = "Paddle's auto_growth in one range of addresses, also compacting; a model.",
          .options = {{"native_compact", "true|false", "false",
                       "Where the device is full live blocks are moved together."}},
          .make = make_auto_growth_vmm,
          .keeps_regions = true};
}

}  // namespace memreplay
