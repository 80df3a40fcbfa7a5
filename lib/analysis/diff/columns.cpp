#include "analysis/diff/columns.hpp"

namespace memreplay {
namespace {

std::uint64_t calls_of(const DeviceUsage& usage) {
  return usage.allocs + usage.frees + usage.maps + usage.unmaps;
}

}  // namespace

Columns::Columns(std::size_t events) {
  allocated.reserve(events);
  reserved.reserve(events);
  calls.reserve(events);
  refused.reserve(events);
}

void Columns::begin_run(const Subject&, const Trial& trial, ObserverGroup& observers) {
  device_ = &trial.usage();
  observers.add(*this);
}

void Columns::on_event(const EventState& state, const Strategy&) {
  allocated.push_back(state.allocated);
  reserved.push_back(state.reserved);
  calls.push_back(calls_of(*device_));
  refused.push_back(state.ooms != ooms_);
  ooms_ = state.ooms;
}

void Columns::end_run(const Trial& trial) { calls_at_end_ = calls_of(trial.usage()); }

void Columns::leave_out_start(const Run& run) {
  calls_before = calls_at_end_ - run.device_calls();
  for (std::uint64_t& count : calls) count -= calls_before;
}

void HoldingsWatch::begin_run(const Subject&, const Trial& trial, ObserverGroup& observers) {
  device_ = &trial.usage();
  observers.add(*this);
}

void HoldingsWatch::on_event(const EventState& state, const Strategy& strategy) {
  const auto found = seen_.find(state.event);
  if (found == seen_.end()) return;
  const FreeSpace space = strategy.free_space();
  found->second = {columns_.refused[state.event],
                   state.requested,
                   state.allocated,
                   state.reserved,
                   space.total,
                   space.largest,
                   calls_of(*device_) - columns_.calls_before};
}

}  // namespace memreplay
