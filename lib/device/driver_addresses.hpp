#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "core/range_set.hpp"
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

/// The order in which NVIDIA's driver under Linux hands out addresses to cudaMalloc, found by
/// asking one (580.159, H100) at random. Requests of 2 MiB and more, in steps of 2 MiB, go to the
/// newest run with a hole that has room, there to the smallest such hole, of equal ones to the
/// lowest, and to its bottom. Without one a run is begun: whole pieces of 32 MiB, at the top of the
/// highest free addresses that are longer, not just as long. A run whose last range is given back
/// is free again. Smaller requests share pieces.
class DriverAddresses {
 public:
  /// Runs begin below `top`.
  explicit DriverAddresses(Address top) : lowest_(top) {}

  /// Takes what a context has taken before a program asks for anything, as seen on an H100 (driver
  /// 580.159, CUDA 13.0): holes of 24 and of 2 MiB are left above the first run.
  void take_context();
  /// Unset: there are no addresses left. O(distinct sizes of holes + log ranges).
  std::optional<Address> take(Bytes size);
  /// What a request takes of the device's memory: nothing where it shares a piece that is there.
  Bytes charge(Bytes size) const;
  /// Takes a range that the caller names. Where it begins runs, the lower ones are the newer; what
  /// lies above the lowest and was not given back is somebody else's. Throws std::logic_error where
  /// part of it is taken. O(log ranges).
  void claim(Address at, Bytes size);
  /// Takes nothing above from now on but what was given back and the rests of runs.
  void go_below(Address at);
  /// Gives back the range that begins there. True where a piece was shared, and is free with it.
  /// Throws std::logic_error where none begins there.
  bool give_back(Address at);

 private:
  struct Run {
    Address to = 0;
    std::int64_t order = 0;             ///< a newer run has a higher one
    std::map<Address, Address> ranges;  ///< taken: from -> to
  };
  using Runs = std::map<Address, Run>;
  /// A hole in a run; of one size the newest run comes first, then the lowest address.
  struct Hole {
    Bytes size = 0;
    std::int64_t order = std::numeric_limits<std::int64_t>::min();  ///< negative that of its run
    Address at = 0;                                                 ///< below 2^63
    auto operator<=>(const Hole&) const = default;
  };

  std::optional<Address> take_steps(Bytes steps);
  Runs::iterator run_at(Address address);
  std::optional<Address> take_run(Bytes size);
  /// The start of the hole that a request goes to; unset: none has room.
  std::optional<Address> newest_hole(Bytes size) const;
  void give_back_run(Runs::iterator run);
  /// Counts the whole steps of a hole.
  void put_hole(const Run& run, AddressRange hole);
  void drop_hole(const Run& run, AddressRange hole);
  /// The hole of the run around an address that is not taken.
  AddressRange hole_around(const Runs::value_type& run, Address address) const;
  void take_range(Runs::value_type& run, Address from, Address to);

  Address lowest_;     ///< the lowest address of all runs so far: everything below is free
  RangeSet returned_;  ///< runs given back above it, by distance below 2^63
  Runs runs_;          ///< by their lowest address
  std::map<Address, Address> continues_;  ///< claimed ranges in several runs: where each goes on
  std::set<Hole> holes_;                  ///< all holes in runs
  SharedPieces shared_;
  std::int64_t newest_ = 0;
};

}  // namespace memreplay
