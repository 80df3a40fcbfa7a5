#pragma once

#include <cstdint>
#include <vector>

#include "strategy/torch/settings.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A block that was there when a recording began.
struct EarlierBlock {
  Slot slot = kNoSlot;
  Request request;          ///< as the program asked for it
  bool pending = false;     ///< its owner was done with it
  bool persistent = false;  ///< the recording never frees it
  /// Its segment was obtained for it. Others ("guests") came later, into cached memory.
  bool founder = false;
};

/// A block of the recording's own requests that its end leaves allocated, or any whose free it
/// leaves pending.
struct LeftBlock {
  Slot slot = kNoSlot;
  bool pending = false;
};

/// What a recording that starts late shows of the time before, whatever it is replayed under.
struct WarmParts {
  std::vector<EarlierBlock> blocks;    ///< by address
  std::vector<std::uint8_t> scalable;  ///< by event: a request that grows with the program's shapes
  std::vector<LeftBlock> left;         ///< in the order of their requests
  std::vector<Request> idle_segments;  ///< one request for each plain large segment of a size of
                                       ///< its own that nothing alive was the reason for
  Bytes reserved = 0;                  ///< when the recording began
  Bytes largest_earlier = 0;           ///< segment that a request before the recording explains
  Bytes largest_scalable = 0;          ///< segment for the largest such request of the recording
};

/// `settings` are those of the recorded allocator. O(events + blocks log blocks).
WarmParts warm_parts(const Trace& trace, const torch::Settings& settings);

}  // namespace memreplay
