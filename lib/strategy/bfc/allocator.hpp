#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/strategy.hpp"

namespace memreplay::bfc {

/// All sizes and addresses that BFC hands out are multiples of it.
inline constexpr int kGranuleLog2 = 8;
inline constexpr Bytes kGranule = Bytes{1} << kGranuleLog2;
inline constexpr Bytes kLargestRequest = Bytes{1} << 62;

enum class Generation : std::uint8_t {
  classic,  ///< TensorFlow 2 up to about 2025
  modern,   ///< XLA as of 2026
  tf_2_21,  ///< TensorFlow's since: the classic one, totals with units
};

/// Which end of a two-ended pool a chunk belongs to; the gap between them is in no bin.
enum class Tag : std::uint8_t { lower, upper, central_gap };

/// How the chunks of one end are searched and cut.
struct EndPolicy {
  bool descending = false;  ///< among equal chunks the highest is taken
  bool exact = false;       ///< every surplus is split off
};

struct Options {
  Bytes limit = 0;
  bool allow_growth = true;
  bool garbage_collection = false;
  double fragmentation_fraction = 0;  ///< 0: the rule of 128 MiB
  bool coalesce_regions = false;
  bool timestamped = false;
  bool spatial = false;
  EndPolicy lower;
  EndPolicy upper;
  bool ignore_alignment = false;            ///< what classic does with a client's wish above 256
  bool backpedal_once = false;              ///< before February 2024
  Bytes first_region = 2 * kMiB;            ///< with growth; 1 MiB before 2021
  Generation report = Generation::classic;  ///< wording of the failure report
  std::string name = "GPU_0_bfc";
};

struct alignas(64) Piece : Chunk {
  std::uint64_t freed_at = 0;   ///< count of the free; 0: safe
  FreeBlocks::Place place = 0;  ///< where a binned chunk is in its bin
  Tag tag = Tag::lower;

  bool is_binned() const { return !in_use && tag != Tag::central_gap; }
  void inherit(const Piece& other) {
    freed_at = other.freed_at;
    tag = other.tag;
  }
};
static_assert(sizeof(Piece) == 64);

/// Counted as the original does: whole chunks, not requests.
struct Statistics {
  Bytes bytes_in_use = 0;
  Bytes peak_bytes_in_use = 0;
  std::int64_t num_allocs = 0;
  Bytes largest_alloc_size = 0;
  Bytes pool_bytes = 0;
  Bytes peak_pool_bytes = 0;
};

/// The allocator of TensorFlow and XLA: best fit with coalescing (tsl/framework/bfc_allocator.cc,
/// xla/tsl/framework/bfc_allocator.cc). O(1) an event but where very many free chunks are of nearly
/// one size, then O(log chunks); alignment above 256 and `freed_before` pass over chunks that do
/// not serve.
class Allocator final : public StrategyOn<Allocator>,
                        private ProgramSteps,
                        private Prefetch,
                        private OomReport {
 public:
  Allocator(DeviceModel& device, Options options, std::vector<std::string> op_names = {});

  std::optional<Placement> allocate(const Request& request) override;
  void free(Handle chunk, FreeOrigin) override;
  StopPoint play(const Stretch& stretch) override;
  Abilities abilities() override { return {.steps = this, .prefetch = this, .oom_report = this}; }
  void safe_frontier(std::uint64_t count) override;
  void prefetch(Handle chunk) const override {
    const Piece& freed = chunks_[chunk];
    if (freed.below != kNoHandle) __builtin_prefetch(&chunks_[freed.below]);
    if (freed.above != kNoHandle) __builtin_prefetch(&chunks_[freed.above]);
  }
  FreeSpace free_space() const override;
  std::vector<AddressRange> free_ranges() const override;
  Testimony testimony() const override;
  MemoryState memory_state() const override { return chunks_.memory_state(); }
  std::string oom_report(const Request& request) const override;

  const Options& options() const { return options_; }
  const Statistics& statistics() const { return statistics_; }
  const ChunkTable<Piece>& chunks() const { return chunks_; }
  Bytes next_region() const { return next_region_; }
  Bytes largest_free() const;
  /// The largest that a request from this end can use.
  Bytes largest_free(Tag end) const;
  /// 1 - largest / all free; unset for a pool without free bytes.
  std::optional<double> fragmentation() const;
  /// 100 characters for the pool: '*' requested, 'x' waste, '_' free.
  std::string occupancy_map() const;
  /// Free chunks of one bin as they are searched.
  std::vector<Handle> bin(int number) const;
  const std::string& op_name(const Request& request) const;

 private:
  struct Wanted {
    Bytes requested = 0;
    Bytes size = 0;  ///< whole granules
    Bytes alignment = kGranule;
    std::uint64_t freed_before = 0;
    Tag end = Tag::lower;
  };

  bool should_split(Bytes chunk, Bytes size) const {
    return chunk - size >= std::min(size, split_threshold_);
  }
  const EndPolicy& policy(Tag end) const {
    return end == Tag::upper ? options_.upper : options_.lower;
  }

  Handle search(const Wanted& wanted);
  bool fits(const Piece& chunk, const Wanted& wanted) const;
  Handle take(Handle chunk, const Wanted& wanted);
  Handle cut_lower(Handle chunk, const Wanted& wanted, bool exact);
  Handle cut_upper(Handle chunk, const Wanted& wanted, bool exact);
  Handle split(Handle chunk, Bytes size, Tag upper_tag);
  void retag(Handle chunk);

  // serving.hpp: what both ways of playing do. `kPlain`: of the lower end, without stamps.
  void hand_out(Piece& chunk, Bytes requested);
  template <bool kPlain>
  FreeBlock key_of(Handle chunk) const;
  template <bool kPlain>
  void insert(Handle chunk);
  template <bool kPlain>
  void remove(Handle chunk);
  /// Joins it with free neighbours; the lowest survives, and is not in a bin.
  template <bool kPlain>
  Handle coalesce(Handle chunk, bool ignore_stamps);
  template <bool kPlain>
  bool mergeable(Handle chunk, bool ignore_stamps) const;

  // play.cpp: many events at once
  template <bool kHints>
  struct Player;
  bool is_plain() const;

  bool extend(Bytes size);
  std::optional<Address> obtain(Bytes& size, Bytes at_least);
  void add_region(Address address, Bytes size);
  Handle last_chunk_before(Address address) const;
  bool collect_garbage(Bytes size);
  bool in_use_anywhere(Handle first) const;

  void merge_what_is_safe();
  bool merge_for(Bytes size);
  std::vector<Handle> leave_queue(bool also_unsafe);

  Options options_;
  std::vector<std::string> op_names_;
  Bytes split_threshold_;  ///< never 0: nothing is no rest
  ChunkTable<Piece> chunks_;
  /// For the lower end and for the upper end.
  std::array<FreeBlocks, 2> bins_ = {FreeBlocks(kGranuleLog2), FreeBlocks(kGranuleLog2)};
  Handle gap_ = kNoHandle;
  std::map<Address, Address> obtained_;  ///< start of what is used -> address that the device gave
  Bytes next_region_;
  bool backpedalled_ = false;
  std::uint64_t frees_ = 0;  ///< counted where timestamped
  std::uint64_t safe_frontier_ = 0;
  std::vector<Handle> queue_;  ///< freed and perhaps not yet safe, in order
  Statistics statistics_;
};

inline Bytes rounded(Bytes size) { return round_up(size, kGranule); }
/// 0 to 20; bin b holds chunks from 256 << b on.
int bin_of(Bytes size);

}  // namespace memreplay::bfc
