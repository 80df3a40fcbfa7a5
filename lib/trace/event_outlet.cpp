#include "trace/event_outlet.hpp"

#include "core/error.hpp"

namespace memreplay {

void EventOutlet::hand_on(Trace& trace) {
  if (!gate_) gate_.emplace(trace);
  if (const auto fault = gate_->fault_in(trace)) throw InputError(path_, fault->place, fault->what);
  if (sink_ == nullptr) sink_ = &begin_();
  together_ = sink_->together();
  sink_->add(0, trace);
  for_each_column([&](auto column) { (trace.*column).clear(); });
}

}  // namespace memreplay
