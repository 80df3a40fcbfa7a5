#pragma once

#include <vector>

#include "strategy/torch/settings.hpp"
#include "trace/torch/start_state.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The memory of the recorded allocator, followed event by event by what the recording states,
/// without any model. Segment events O(log segments), others O(1).
class RecordedState {
 public:
  explicit RecordedState(const Trace& trace);

  void play(std::size_t event);
  /// The size of a block, where the model found it.
  void note_size(Slot slot, Bytes size) { live_[slot].size = size; }
  /// The state now. Blocks that lie in no segment are left out and counted in `unplaced`.
  MemoryState layout(const torch::Settings& settings, std::uint64_t& unplaced) const;

 private:
  using Segment = SegmentHistory::Segment;
  void map(std::size_t event);

  const Trace& trace_;
  SegmentTable segments_;         ///< stream and pool are the trace's indices
  std::vector<StartBlock> live_;  ///< by slot; kNoSlot: not live
};

}  // namespace memreplay
