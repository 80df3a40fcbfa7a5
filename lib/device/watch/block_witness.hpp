#pragma once

#include <cstdint>

#include "core/request.hpp"

namespace memreplay {

/// Hears of every block of a replay. Placements are as the strategy gave them.
class BlockWitness {
 public:
  virtual ~BlockWitness() = default;
  /// After the strategy has placed a block, also one of the start state.
  virtual void placed(std::uint64_t event, const Request& request, const Placement& placement) = 0;
  /// When the owner is done with the block; `freed` follows when its streams are done too.
  virtual void free_requested(std::uint64_t event, const Placement& placement) = 0;
  /// When no stream uses the block any more, before the strategy is told.
  virtual void freed(std::uint64_t event, const Placement& placement) = 0;
  /// A live block has left the device during this event: its memory is the strategy's again, and
  /// nothing more is heard of it.
  virtual void moved_out(const Placement& placement) = 0;
  /// A live block lies elsewhere on the device from now on.
  virtual void moved(const Placement& from, const Placement& to) = 0;
  /// After a call in which the strategy waited for all streams, before `placed` of that call: the
  /// memory of blocks whose free was requested is the strategy's again.
  virtual void synchronised() = 0;
  /// After a call in which the strategy let `stream` wait for others that many times.
  virtual void stream_waited(StreamIndex /*stream*/, std::uint64_t /*times*/) {}
};

}  // namespace memreplay
