#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/request.hpp"
#include "strategy/strategy.hpp"
#include "strategy/torch/release.hpp"

namespace memreplay::torch {

/// One statistic of `memory_stats()`: `freed` is `allocated` less `current`.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;

  void increase(Bytes amount) {
    current += static_cast<std::int64_t>(amount);
    allocated += static_cast<std::int64_t>(amount);
    if (current > peak) peak = current;
  }
  void decrease(Bytes amount) { current -= static_cast<std::int64_t>(amount); }
};

/// One quantity three times: of all pools, of the small ones and of the large ones.
struct StatArray {
  Stat all;
  std::array<Stat, 2> of_pool;  ///< large, small: indexed by BlockPool::small

  void increase(bool small, Bytes amount) {
    all.increase(amount);
    of_pool[small].increase(amount);
  }
  void decrease(bool small, Bytes amount) {
    all.decrease(amount);
    of_pool[small].decrease(amount);
  }
};

/// DeviceStats of c10/core/CachingDeviceAllocator.h, under its names.
struct Statistics {
  StatArray allocation, segment, active, inactive_split;
  StatArray allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
  Stat oversize_allocations, oversize_segments;
  std::uint64_t num_alloc_retries = 0;
  std::uint64_t num_ooms = 0;
  std::uint64_t num_oom_rejections = 0;
  std::uint64_t num_sync_all_streams = 0;
  std::uint64_t num_device_alloc = 0;
  std::uint64_t num_device_free = 0;
  std::vector<StatArray> reserved_by_pool;  ///< of private pools, by pool index
};

/// Every key of `memory_stats()` that `release` has, sorted as PyTorch sorts them.
Counters memory_stats(const Statistics& statistics, Bytes max_split_size, const Release& release,
                      std::span<const PoolId> pools);

}  // namespace memreplay::torch
