#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/request.hpp"
#include "strategy/strategy.hpp"
#include "strategy/torch/release.hpp"

namespace memreplay::torch {

/// A quantity that is counted. Kept is how much more there may be until a peak is passed: that is
/// seldom, and all else is left alone then.
struct Stat {
  std::int64_t allocated = 0;  ///< ever; `freed` is this less what there is now
  std::int64_t room = 0;
  std::int64_t most = 0;  ///< what there is where there is no room
  std::int64_t peak = 0;

  std::int64_t current() const { return most - room; }
  /// False where there was no room for it, and peaks are to be noted.
  bool allocate(Bytes amount) {
    allocated += static_cast<std::int64_t>(amount);
    room -= static_cast<std::int64_t>(amount);
    return room >= 0;
  }
  void free(Bytes amount) { room += static_cast<std::int64_t>(amount); }
  /// By an amount of either sign.
  bool change(std::int64_t by) {
    allocated += std::max(by, std::int64_t{0});
    room -= by;
    return room >= 0;
  }
  void note_peak() { peak = std::max(peak, current()); }
  void may_reach(std::int64_t amount) {
    room += amount - most;
    most = amount;
  }
};

/// One of its own.
struct SingleStat : Stat {
  void increase(Bytes amount) {
    if (allocate(amount)) return;
    note_peak();
    may_reach(peak);
  }
  void decrease(Bytes amount) { free(amount); }
};

/// A statistic of the large pools, of the small ones and of all. No sum is kept for all: what they
/// may grow until their peak is passed is dealt out to both, so that one comparison watches two
/// peaks.
struct PooledStat {
  std::array<Stat, 2> of_pool;  ///< large, small
  std::int64_t peak = 0;        ///< the peak of both together

  std::int64_t current() const { return of_pool[0].current() + of_pool[1].current(); }
  void increase(bool small, Bytes amount) {
    if (!of_pool[small].allocate(amount)) [[unlikely]]
      note(small);
  }
  void decrease(bool small, Bytes amount) { of_pool[small].free(amount); }
  /// By an amount of either sign.
  void change(bool small, std::int64_t by) {
    if (!of_pool[small].change(by)) [[unlikely]]
      note(small);
  }

 protected:
  /// `room` for all, to each at most up to its peak, half of it to the one that asks.
  void deal_out(std::int64_t room, bool asks, const std::array<std::int64_t, 2>& peaks);

 private:
  [[gnu::cold]] void note(bool small);
};

/// Two statistics of one quantity: of live blocks, and of active ones, which are live or pending.
struct LiveStat : PooledStat {
  struct Pending {
    std::int64_t current = 0;
    std::int64_t found = 0;        ///< in a state that was taken over
    std::int64_t active_peak = 0;  ///< the peak of allocated and pending together
  };
  std::array<Pending, 2> pending;
  std::int64_t active_peak = 0;  ///< the peak of both together

  std::int64_t active(bool small) const {
    return of_pool[small].current() + pending[small].current;
  }
  std::int64_t pending_now() const { return pending[0].current + pending[1].current; }
  std::int64_t active() const { return active(false) + active(true); }
  void increase(bool small, Bytes amount) {
    if (!of_pool[small].allocate(amount)) [[unlikely]]
      note(small);
  }
  /// From live to pending.
  void decrease_later(bool small, Bytes amount) {
    of_pool[small].free(amount);
    change_pending(small, static_cast<std::int64_t>(amount));
  }
  void change_pending(bool small, std::int64_t by) {
    pending[small].current += by;
    note(small);
  }
  void find_pending(bool small, Bytes amount) {
    pending[small].found += static_cast<std::int64_t>(amount);
    change_pending(small, static_cast<std::int64_t>(amount));
  }

 private:
  [[gnu::cold]] void note(bool small);
};

/// DeviceStats of c10/core/CachingDeviceAllocator.h, under its names.
struct Statistics {
  void take_block(bool small, Bytes size) {
    blocks.increase(small, 1);
    bytes.increase(small, size);
  }
  void give_block(bool small, Bytes size) {
    blocks.decrease(small, 1);
    bytes.decrease(small, size);
  }
  /// Its owner is done with it, streams may not be.
  void give_block_later(bool small, Bytes size) {
    blocks.decrease_later(small, 1);
    bytes.decrease_later(small, size);
  }
  void complete_block(bool small, Bytes size) {
    blocks.change_pending(small, -1);
    bytes.change_pending(small, -static_cast<std::int64_t>(size));
  }
  void find_pending_block(bool small, Bytes size) {
    blocks.find_pending(small, 1);
    bytes.find_pending(small, size);
  }

  LiveStat blocks;  ///< allocation, active
  LiveStat bytes;   ///< allocated_bytes, active_bytes
  PooledStat segment, inactive_split;
  PooledStat reserved_bytes, inactive_split_bytes, requested_bytes;
  SingleStat oversize_allocations, oversize_segments;
  std::uint64_t num_alloc_retries = 0;
  std::uint64_t num_ooms = 0;
  std::uint64_t num_oom_rejections = 0;
  std::uint64_t num_sync_all_streams = 0;
  std::uint64_t num_device_alloc = 0;
  std::uint64_t num_device_free = 0;
  std::vector<PooledStat> reserved_by_pool;  ///< private pools, by pool index
};

/// Every key of `memory_stats()` that `release` has, sorted as PyTorch sorts them.
Counters memory_stats(const Statistics& statistics, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools);

}  // namespace memreplay::torch
