#pragma once

#include <optional>
#include <string>
#include <vector>

#include "strategy/parts/best_fit.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// OrtArenaCfg.
struct OrtArenaOptions {
  std::optional<Bytes> max_mem;    ///< unset: no limit
  bool same_as_requested = false;  ///< else regions double
  Bytes initial_chunk_size_bytes = kMiB;
  Bytes max_dead_bytes_per_chunk = 128 * kMiB;
  Bytes initial_growth_chunk_size_bytes = 2 * kMiB;
  Bytes max_power_of_two_extend_bytes = kGiB;
};

/// The BFC arena of ONNX Runtime (onnxruntime/core/framework/bfc_arena.cc): best fit with
/// coalescing in regions that never join. `empty_cache` is its shrink. A request and a free cost
/// O(1) to O(log n); alignment above 256, which the original has not, passes over chunks that do
/// not serve.
class OrtArena final : public StrategyOn<OrtArena>, private OomReport {
 public:
  /// As the original counts: whole chunks, and regions as they were asked for.
  struct Statistics {
    Bytes in_use = 0;
    Bytes most_in_use = 0;
    Bytes held = 0;
    Bytes lost = 0;  ///< part of `held` that is in no region
    Bytes largest_alloc = 0;
    std::int64_t allocs = 0;
    std::int64_t reserves = 0;
    std::int64_t extensions = 0;
    std::int64_t shrinkages = 0;
  };

  OrtArena(const OrtArenaOptions& options, DeviceModel& device);

  std::optional<Placement> allocate(const Request& request) override;
  /// A block of its own from the device, for what lives as long as a session; its free returns it.
  std::optional<Placement> reserve(Bytes size);
  void free(Handle block, FreeOrigin) override;
  void empty_cache() override;

  FreeSpace free_space() const override;
  std::vector<AddressRange> free_ranges() const override;
  Testimony testimony() const override;
  MemoryState memory_state() const override { return chunks_.memory_state(); }
  Abilities abilities() override { return {.oom_report = this}; }

  const Statistics& statistics() const { return statistics_; }

 private:
  struct Piece : Chunk {
    Address region = 0;  ///< as the device gave it
    bool reserved = false;
  };
  /// Why the last request failed.
  struct Refusal {
    enum class By { limit, device, odd_size } by = By::device;
    Bytes available = 0;  ///< below the limit
  };

  std::string oom_report(const Request& request) const override;
  bool refuse(Refusal::By by, Bytes available = 0);
  Bytes below_limit() const;
  FreeBlock key_of(Handle chunk) const;
  Handle take(const Wanted& wanted);
  bool extend(const Wanted& wanted);
  Bytes next_region(Bytes size, Bytes available);
  Placement hand_out(Handle chunk, Bytes requested);
  void give_back_region(Handle first);

  OrtArenaOptions options_;
  Bytes growth_;  ///< size of the next region
  ChunkTable<Piece> chunks_;
  FreeBlocks free_;
  std::optional<Address> first_region_;  ///< the first ever
  Statistics statistics_;
  Refusal refusal_;
};

}  // namespace memreplay
