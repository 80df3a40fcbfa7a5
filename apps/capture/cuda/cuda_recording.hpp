#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "spool/recording.hpp"

namespace memreplay::capture {

/// A trace for each device, and one for pinned memory of the host. Pools of a device: the default
/// one is plain memory, 0:1 stream-ordered memory without a named pool, 0:2 managed, 0:3 physical
/// memory for mappings, 1:N the N-th named pool. Streams are numbered as they come, 0 is the
/// default one. Physical memory lives until its handle is released and nothing maps it.
SpoolSummary stream_cuda(const SpooledProcess& process, EventSink& sink);

/// Pieces of physical memory: each lives until its handle is released and nothing maps it.
class PhysicalMemory {
 public:
  /// Number of a piece; above all addresses.
  using Piece = std::uint64_t;

  Piece create(std::uint64_t handle);
  void map(Address from, std::uint64_t handle);
  /// The piece where it ends, else unset, as for a handle that nobody knows.
  std::optional<Piece> release(std::uint64_t handle);
  /// The pieces that end with the mappings in [from, from + size).
  std::vector<Piece> unmap(Address from, Bytes size);

 private:
  struct State {
    bool is_released = false;
    std::uint64_t mappings = 0;
  };

  bool ends(Piece piece);

  std::map<std::uint64_t, Piece> pieces_;  ///< by handle that is not released
  std::map<Piece, State> states_;          ///< by live piece
  std::map<Address, Piece> mappings_;
  Piece next_ = Piece{1} << 63;
};

}  // namespace memreplay::capture
