#pragma once

#include <initializer_list>

#include "trace/trace_builder.hpp"

namespace memreplay {

/// An event of a trace from the default stream.
struct Step {
  Op op;
  Slot slot;
  Bytes size;
};

inline Trace trace_of(std::initializer_list<Step> steps) {
  TraceBuilder builder(0);
  const std::uint16_t lane = builder.lane(0, PoolId{});
  for (const Step& step : steps) {
    builder.add(step.op, lane, step.slot, step.size);
    if (step.slot != kNoSlot && step.slot >= builder.trace().slot_count) {
      builder.trace().slot_count = step.slot + 1;
    }
  }
  return builder.finish();
}

}  // namespace memreplay
