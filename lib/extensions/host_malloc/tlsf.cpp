#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/text.hpp"
#include "extensions/host_malloc/two_level_lists.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kTlsfUnit = 8;
constexpr Bytes kTlsfHeader = 8;  ///< in the memory before a block
constexpr Bytes kTlsfPoolEnds = 16;
constexpr Bytes kTlsfSmallest = 24;
/// What the original accepts but for its last bytes, and the piece in which devices give memory.
constexpr Bytes kTlsfLargestPool = 4'294'967'000;
constexpr Bytes kTlsfGranule = 2 * kMiB;

struct TlsfOptions {
  std::vector<Bytes> pools;  ///< none: as many as it takes
  std::uint32_t second_level_log2 = 5;
};

Bytes usable_bytes(Bytes pool) { return (pool - kTlsfPoolEnds) / kTlsfUnit * kTlsfUnit; }

/// Two-level segregated fit (Masmano et al. 2004; mattconte/tlsf 3.1). A request and a free are
/// O(1). The size of a chunk counts the header after it too, so that chunks tile their pool.
class Tlsf final : public StrategyOn<Tlsf> {
 public:
  Tlsf(const TlsfOptions& options, DeviceModel& device)
      : StrategyOn(device), grows_(options.pools.empty()), lists_(options.second_level_log2) {
    for (const Bytes pool : options.pools) add_pool(pool);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Bytes size = std::max(kTlsfSmallest, round_up(request.size, kTlsfUnit));
    if (size < request.size) return std::nullopt;
    const bool aligns = request.alignment > kTlsfUnit;
    const Bytes search = aligns ? with_room_to_align(size, request.alignment) : size;
    if (search >= TwoLevelLists::kSizesEnd) return std::nullopt;
    Handle block = lists_.find(search);
    if (block == kNoHandle && grows_ && grow(search)) block = lists_.find(search);
    if (block == kNoHandle) return std::nullopt;
    lists_.remove(block);
    if (aligns) block = cut_front(block, request.alignment);
    if (chunks_[block].size >= size + kTlsfHeader + kTlsfSmallest + kTlsfHeader) {
      list(chunks_.split(block, size + kTlsfHeader));
    }
    Chunk& taken = chunks_[block];
    taken.in_use = true;
    taken.requested = request.size;
    live_bytes_ += taken.size;
    return Placement{taken.address, taken.size, block};
  }

  void free(Handle block, FreeOrigin) override {
    live_bytes_ -= chunks_[block].size;
    block = chunks_.join_neighbours(block, [&](Handle neighbour) {
      if (chunks_[neighbour].in_use) return false;
      lists_.remove(neighbour);
      return true;
    });
    chunks_[block].in_use = false;
    list(block);
  }

  FreeSpace free_space() const override {
    return {.total = held_bytes_ - live_bytes_,
            .largest = lists_.largest(),
            .obtainable = grows_ ? UINT64_MAX : 0};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    chunks_.for_each([&](Handle block) {
      const Chunk& chunk = chunks_[block];
      if (chunk.in_use) return;
      ranges.push_back({chunk.address, chunk.address + chunk.size - kTlsfHeader});
    });
    return ranges;
  }

  Testimony testimony() const override {
    return {.counters = {{"pools", static_cast<std::int64_t>(pools_.size())},
                         {"free_blocks", static_cast<std::int64_t>(lists_.count())},
                         {"free_bytes", static_cast<std::int64_t>(lists_.bytes())}}};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& [address, size] : pools_) {
      regions.push_back({.address = address, .size = size, .blocks = {}});
    }
    std::vector<PlacedBlock> blocks;
    chunks_.for_each([&](Handle block) {
      const Chunk& chunk = chunks_[block];
      if (chunk.in_use) blocks.push_back({chunk.address, chunk.size, chunk.requested});
    });
    return tiled(std::move(regions), blocks);
  }

 private:
  static Bytes with_room_to_align(Bytes size, Bytes alignment) {
    if (alignment >= TwoLevelLists::kSizesEnd) return alignment;
    return round_up(size + alignment + kTlsfSmallest + kTlsfHeader, alignment);
  }

  void list(Handle block) { lists_.push(block, chunks_[block].size - kTlsfHeader); }

  /// What precedes the first aligned place becomes a block; where it is too small for one, a later
  /// place serves.
  Handle cut_front(Handle block, Bytes alignment) {
    constexpr Bytes kLeast = kTlsfSmallest + kTlsfHeader;
    const Address from = chunks_[block].address;
    Address at = round_up(from, alignment);
    if (at != from && at - from < kLeast) {
      at = round_up(at + std::max(kLeast - (at - from), alignment), alignment);
    }
    if (at == from) return block;
    const Handle upper = chunks_.split(block, at - from);
    list(block);
    return upper;
  }

  /// A pool as large as the device has left, where the request would fit.
  bool grow(Bytes search) {
    const auto would_do = [&](Bytes pool) {
      return pool >= kTlsfPoolEnds + kTlsfSmallest && lists_.would_find(search, usable_bytes(pool));
    };
    const Bytes pool = std::min(kTlsfLargestPool, device_->free_bytes());
    if (would_do(pool) && add_pool(pool)) return true;
    // Where free memory is not a whole number of granules, the rest cannot be had.
    const Bytes whole = pool / kTlsfGranule * kTlsfGranule;
    return whole != pool && would_do(whole) && add_pool(whole);
  }

  bool add_pool(Bytes size) {
    const auto address = device_->obtain(size);
    if (!address) return false;
    pools_.emplace(*address, size);
    held_bytes_ += size;
    list(chunks_.add_region(*address + kTlsfHeader, usable_bytes(size) + kTlsfHeader));
    return true;
  }

  bool grows_;
  TwoLevelLists lists_;
  ChunkTable<> chunks_;
  std::map<Address, Bytes> pools_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
};

/// "[SIZE;SIZE…]".
std::vector<Bytes> pools_of(std::string_view value) {
  const auto bad = [&](std::string_view pool) {
    return UsageError(fmt::format(
        "strategy 'tlsf': pools has '{}'; expected [SIZE;SIZE…], each of 40 bytes to 4 GiB", pool));
  };
  if (value.size() < 2 || value.front() != '[' || value.back() != ']') throw bad(value);
  value = value.substr(1, value.size() - 2);
  std::vector<Bytes> pools;
  for (std::size_t from = 0; from <= value.size();) {
    const std::size_t to = std::min(value.find(';', from), value.size());
    const std::string_view text = value.substr(from, to - from);
    const auto size = parse_size(text);
    if (!size || *size < kTlsfPoolEnds + kTlsfSmallest || *size > TwoLevelLists::kSizesEnd) {
      throw bad(text);
    }
    pools.push_back(*size);
    from = to + 1;
  }
  return pools;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  TlsfOptions options;
  if (const auto pools = find_option(spec, "pools")) options.pools = pools_of(*pools);
  options.second_level_log2 =
      static_cast<std::uint32_t>(whole_option(spec, "second_level_log2", 5, 1, 5));
  return std::make_unique<Tlsf>(options, context.device);
}

}  // namespace

/// TLSF: two-level segregated fit in fixed pools.
StrategyInfo tlsf_strategy() {
  return {.name = "tlsf",
          .summary = "Two-level segregated fit: constant time, pools that hold headers too.",
          .options =
              {{"pools", "[SIZE;SIZE…]", "capacity",
                "Sizes of the pools; default: as many as needed, of the device's size or 4 GiB."},
               {"second_level_log2", "1..5", "5",
                "Lists for each doubling of sizes, as a power of two."}},
          .make = make,
          .keeps_regions = true,
          .takes_at_once = "pools"};
}

}  // namespace memreplay
