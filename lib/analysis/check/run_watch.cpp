#include "analysis/check/run_watch.hpp"

#include <algorithm>

namespace memreplay {

RunWatch::RunWatch(const Trace& trace, const DeviceUsage& device, std::vector<Limit> limits)
    : trace_(trace),
      device_(device),
      built_(device),
      limits_(std::move(limits)),
      over_since_(limits_.size()) {}

void RunWatch::on_start_block(Slot slot, const Placement& /*placement*/) {
  from_before_.push_back(slot);
}

void RunWatch::on_start(const EventState& state, const Strategy& strategy) {
  std::ranges::sort(from_before_);
  device_before_ = device_;
  strategy_before_ = strategy.usage();
  so_far_.peak_requested = state.requested;
  so_far_.peak_allocated = state.allocated;
}

void RunWatch::on_event(const EventState& state, const Strategy& strategy) {
  RunMetrics& m = so_far_;
  if (state.allocated > m.peak_allocated) behind_peak_ = state.event + 1;
  if (trace_.ops[state.event] == Op::allocate && !state.placement) unserved_.push_back(state.event);
  m.peak_requested = std::max(m.peak_requested, state.requested);
  m.peak_allocated = std::max(m.peak_allocated, state.allocated);
  m.peak_reserved = state.peak_reserved;
  m.end_requested = state.requested;
  m.end_allocated = state.allocated;
  m.end_reserved = state.reserved;
  m.ooms = state.ooms;
  m.device_allocs = built_.allocs + device_.allocs - device_before_.allocs;
  m.device_frees = built_.frees + device_.frees - device_before_.frees;
  m.device_maps = built_.maps + device_.maps - device_before_.maps;
  m.device_unmaps = built_.unmaps + device_.unmaps - device_before_.unmaps;
  m.segments_peak = device_.peak_regions;
  m.segments_end = device_.regions;
  const StrategyUsage own = strategy.usage();
  m.oom_retries = own.oom_retries - strategy_before_.oom_retries;
  m.syncs = own.syncs - strategy_before_.syncs;
  m.stream_waits = own.stream_waits - strategy_before_.stream_waits;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    if (limits_[i].metric->of(m) <= limits_[i].most) {
      over_since_[i].reset();
    } else if (!over_since_[i]) {
      over_since_[i] = state.event;
    }
  }
}

std::vector<LiveBlock> RunWatch::live_at_peak() const {
  std::vector<LiveBlock> live = live_before(trace_, behind_peak_);
  std::erase_if(live, [&](const LiveBlock& block) {
    if (!block.born) return !std::ranges::binary_search(from_before_, block.slot);
    return std::ranges::binary_search(unserved_, *block.born);
  });
  return live;
}

}  // namespace memreplay
