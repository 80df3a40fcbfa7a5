#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/units.hpp"

namespace memreplay {

/// How NVIDIA's driver under Linux serves cudaMalloc below 2 MiB, found by asking one (580.159,
/// H100) at random: requests share pieces of 2 MiB in units of 512 bytes, in the smallest hole that
/// has room, of equal ones the one that came to be first, and at its bottom. A piece of which all
/// was given back is free. Every call: O(log holes).
class SharedPieces {
 public:
  static constexpr Bytes kPiece = 2 * kMiB;

  /// Unset: no hole has room, and a piece is to be added first. `size` is below that of a piece.
  std::optional<Address> take(Bytes size);
  bool has_room_for(Bytes size) const;
  void add(Address piece);
  bool holds(Address at) const { return taken_.contains(at); }
  /// Gives back what `take` gave. Returns the piece around it, which is removed, when all of it is
  /// free.
  std::optional<Address> give_back(Address at);

 private:
  struct Hole {
    Bytes size = 0;
    std::uint64_t age = 0;  ///< a later one has a higher one
    Address at = 0;
    auto operator<=>(const Hole&) const = default;
  };
  void put_hole(Address at, Bytes size);
  void drop_hole(std::map<Address, Hole>::iterator hole);

  std::map<Address, Bytes> taken_;
  std::map<Address, Hole> holes_;  ///< by address; those of one piece join
  std::set<Hole> by_size_;
  std::uint64_t made_ = 0;
};

}  // namespace memreplay
