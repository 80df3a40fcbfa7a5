#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <utility>

#include "core/request.hpp"

namespace memreplay::torch {

/// A free block as the search for a best fit sees it. Order: size, then the release's tie-break.
struct FreeBlock {
  Bytes size = 0;
  std::uint64_t order = 0;  ///< see Block::order
  Address address = 0;
  Handle block = kNoHandle;

  friend std::strong_ordering operator<=>(const FreeBlock&, const FreeBlock&) = default;
};

/// The free, mapped blocks of one stream in one pool. O(log n) each.
using FreeBlocks = std::set<FreeBlock>;
/// Its parts of reservations without memory behind them, by address.
using UnmappedBlocks = std::set<std::pair<Address, Handle>>;

}  // namespace memreplay::torch
