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

/// A quantity and its peak. Kept is how much it may still grow until it passes the peak: that is
/// seldom, and all else is left alone then.
struct Level {
  std::int64_t room = 0;
  std::int64_t peak = 0;

  std::int64_t current() const { return peak - room; }
  void increase(Bytes amount) {
    room -= static_cast<std::int64_t>(amount);
    if (room < 0) [[unlikely]]
      pass();
  }
  void decrease(Bytes amount) { room += static_cast<std::int64_t>(amount); }
  /// By an amount of either sign.
  void change(std::int64_t by) { increase(static_cast<Bytes>(by)); }

 private:
  [[gnu::noinline, gnu::cold]] void pass() {
    peak -= room;
    room = 0;
  }
};

/// One statistic of `memory_stats()`: `freed` is `allocated` less what is there now.
struct Stat : Level {
  std::int64_t allocated = 0;

  void increase(Bytes amount) {
    allocated += static_cast<std::int64_t>(amount);
    Level::increase(amount);
  }
  void change(std::int64_t by) {
    allocated += by > 0 ? by : 0;
    Level::change(by);
  }
};

/// What is allocated, and what is active: allocated or pending. Kept is how much both may still
/// grow until one of them passes its peak.
struct LiveLevel {
  std::int64_t room = 0;
  std::int64_t mark = 0;  ///< what is allocated where there is no room
  std::int64_t pending = 0;
  std::int64_t peak = 0;
  std::int64_t active_peak = 0;

  std::int64_t current() const { return mark - room; }
  std::int64_t active() const { return current() + pending; }
  void take(Bytes amount) {
    room -= static_cast<std::int64_t>(amount);
    if (room < 0) [[unlikely]]
      note(current(), pending);
  }
  void give(Bytes amount) { room += static_cast<std::int64_t>(amount); }
  /// From allocated to pending.
  void give_later(std::int64_t amount) { note(current() - amount, pending + amount); }
  void change_pending(std::int64_t by) { note(current(), pending + by); }

 private:
  [[gnu::noinline]] void note(std::int64_t now, std::int64_t pending_now) {
    peak = std::max(peak, now);
    active_peak = std::max(active_peak, now + pending_now);
    pending = pending_now;
    mark = std::min(peak, active_peak - pending);
    room = mark - now;
  }
};

/// Two statistics of one quantity: of live blocks, and of active ones.
struct LiveStat : LiveLevel {
  std::int64_t allocated = 0;      ///< ever
  std::int64_t found_pending = 0;  ///< in a state that was taken over

  void take(Bytes amount) {
    allocated += static_cast<std::int64_t>(amount);
    LiveLevel::take(amount);
  }
  void find_pending(Bytes amount) {
    found_pending += static_cast<std::int64_t>(amount);
    change_pending(static_cast<std::int64_t>(amount));
  }
};

/// Of the small pools, of the large ones, or of all. Of all of them what was ever allocated is not
/// kept: it is the sum.
struct PoolStatistics {
  LiveStat blocks;  ///< allocation, active
  LiveStat bytes;   ///< allocated_bytes, active_bytes
  Stat segment, inactive_split;
  Stat reserved_bytes, inactive_split_bytes, requested_bytes;
};

/// DeviceStats of c10/core/CachingDeviceAllocator.h, under its names.
struct Statistics {
  using Which = Stat PoolStatistics::*;

  void increase(Which which, PoolStatistics& own, Bytes amount) {
    (all.*which).Level::increase(amount);
    (own.*which).increase(amount);
  }
  void decrease(Which which, PoolStatistics& own, Bytes amount) {
    (all.*which).decrease(amount);
    (own.*which).decrease(amount);
  }
  /// By an amount of either sign.
  void change(Which which, PoolStatistics& own, std::int64_t by) {
    (all.*which).Level::change(by);
    (own.*which).change(by);
  }
  void take_block(PoolStatistics& own, Bytes size) {
    all.blocks.LiveLevel::take(1);
    all.bytes.LiveLevel::take(size);
    own.blocks.take(1);
    own.bytes.take(size);
  }
  void give_block(PoolStatistics& own, Bytes size) {
    for (PoolStatistics* of : {&all, &own}) {
      of->blocks.give(1);
      of->bytes.give(size);
    }
  }
  /// Its owner is done with it, streams may not be.
  void give_block_later(PoolStatistics& own, Bytes size) {
    for (PoolStatistics* of : {&all, &own}) {
      of->blocks.give_later(1);
      of->bytes.give_later(static_cast<std::int64_t>(size));
    }
  }
  void complete_block(PoolStatistics& own, Bytes size) {
    for (PoolStatistics* of : {&all, &own}) {
      of->blocks.change_pending(-1);
      of->bytes.change_pending(-static_cast<std::int64_t>(size));
    }
  }
  void find_pending_block(PoolStatistics& own, Bytes size) {
    for (PoolStatistics* of : {&all, &own}) {
      of->blocks.find_pending(1);
      of->bytes.find_pending(size);
    }
  }

  PoolStatistics all;
  std::array<PoolStatistics, 2> of_pool;  ///< large, small
  Stat oversize_allocations, oversize_segments;
  std::uint64_t num_alloc_retries = 0;
  std::uint64_t num_ooms = 0;
  std::uint64_t num_oom_rejections = 0;
  std::uint64_t num_sync_all_streams = 0;
  std::uint64_t num_device_alloc = 0;
  std::uint64_t num_device_free = 0;
  /// Of private pools, by pool index: all, large, small.
  std::vector<std::array<Stat, 3>> reserved_by_pool;
};

/// Every key of `memory_stats()` that `release` has, sorted as PyTorch sorts them.
Counters memory_stats(const Statistics& statistics, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools);

}  // namespace memreplay::torch
