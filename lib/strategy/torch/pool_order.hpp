#pragma once

#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay::torch {

/// Private pools in the order in which PyTorch walks over them: that of its hash tables, which are
/// ska::flat_hash_map by Malte Skarupke (2017) with the one number of a pool's id that is not 0 for
/// a hash. Such a table is a row of slots, at most half full, and a pool's slot is its number times
/// 2^64 / golden ratio, modulo 2^64, by the upper bits. Where pools want the same slot, those that
/// are further from theirs come first (Robin Hood hashing).
class PoolOrder {
 public:
  /// Inserts a pool that is not there yet. O(1) on average.
  void insert(PoolIndex pool, PoolId id);
  /// Does nothing where the pool is not there. O(slots).
  void erase(PoolIndex pool);
  std::vector<PoolIndex> pools() const;

 private:
  struct Entry {
    std::uint64_t number = 0;
    PoolIndex pool = 0;
    int distance = -1;  ///< from the slot that it wants; negative: nobody is here

    bool is_here() const { return distance >= 0; }
  };

  void place(Entry entry);
  void grow();
  Entry& at(std::size_t slot);

  std::vector<Entry> slots_;  ///< those wanted, and after them as many as were needed
  std::size_t wanted_ = 0;    ///< a power of two; 0: nobody came yet
  std::size_t count_ = 0;
};

}  // namespace memreplay::torch
