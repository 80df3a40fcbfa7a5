#pragma once

#include <span>

#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// The pools of Umpire differ in what serves among equals and in when they stop coalescing.
enum class UmpireKind { quick_pool, dynamic_pool_list };

struct UmpireOptions {
  UmpireKind kind = UmpireKind::quick_pool;
  Bytes first = 512 * kMiB;  ///< least size of a block while the pool holds none
  Bytes next = kMiB;         ///< least size of the others
  Bytes align = 16;
  bool counts_blocks = false;  ///< when to coalesce: by releasable blocks, or by percent of bytes
  bool to_peak = true;         ///< coalesced is up to the peak, else to what was held
  std::uint64_t value = 100;   ///< percent, or blocks
};

/// What the original keeps count of. Bytes of the device are without the surplus for alignment.
struct UmpireFigures {
  Bytes current_size = 0;  ///< as requested
  Bytes aligned_size = 0;
  Bytes aligned_hwm = 0;
  Bytes actual_size = 0;  ///< obtained from the device
  Bytes actual_hwm = 0;
  Bytes releasable_bytes = 0;  ///< blocks that are wholly free
  std::uint64_t releasable_blocks = 0;
  std::uint64_t total_blocks = 0;
  std::uint64_t free_chunks = 0;

  friend bool operator==(const UmpireFigures&, const UmpireFigures&) = default;
};

/// Umpire's QuickPool and DynamicPoolList (LLNL/Umpire, strategy/). A request and a free cost O(1)
/// to O(log n); coalescing looks at every free chunk.
class UmpirePool final : public StrategyOn<UmpirePool> {
 public:
  UmpirePool(const UmpireOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override;
  void free(Handle block, FreeOrigin) override;
  /// Umpire's `release`: blocks that are wholly free go back.
  void empty_cache() override;
  /// Where the heuristic says so, one block takes the place of those that are wholly free.
  void coalesce();

  FreeSpace free_space() const override;
  std::vector<AddressRange> free_ranges() const override;
  StrategyUsage usage() const override { return {.oom_retries = refusals_}; }
  Testimony testimony() const override;
  MemoryState memory_state() const override { return chunks_.memory_state(); }

  const UmpireFigures& figures() const { return figures_; }

 private:
  struct Piece : Chunk {
    Address region = 0;      ///< as the device gave it
    std::uint64_t rank = 0;  ///< a free piece's, among those of its size
  };

  bool is_quick() const { return options_.kind == UmpireKind::quick_pool; }
  FreeBlock entry_of(Handle chunk) const;
  void list(Handle chunk);
  void unlist(Handle chunk);
  Handle find(const Wanted& wanted) const;
  Handle grow(const Wanted& wanted);
  Handle take(const Wanted& wanted);
  void put(Handle chunk);
  /// The bytes to coalesce to; 0: not now.
  Bytes suggestion() const;
  /// Whether it allocated and freed a block for that.
  bool coalesce_to(Bytes target);

  UmpireOptions options_;
  ChunkTable<Piece> chunks_;
  FreeBlocks free_;
  UmpireFigures figures_;
  std::uint64_t inserted_ = 0;
  std::uint64_t refusals_ = 0;
  std::uint64_t endless_ = 0;           ///< frees at which the original would not come to an end
  std::uint64_t coalesce_refused_ = 0;  ///< likewise: at which it would give up
};

/// The options of either, and what stands in them.
std::vector<OptionInfo> umpire_option_infos();
UmpireOptions umpire_options(const StrategySpec& spec, UmpireKind kind);

}  // namespace memreplay
