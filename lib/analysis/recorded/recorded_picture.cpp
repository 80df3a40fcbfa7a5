#include "analysis/recorded/recorded_picture.hpp"

#include <algorithm>

#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

Bytes requested_at_start(const Trace& trace) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::allocated) sum += block.requested;
    }
  }
  return sum;
}

}  // namespace

RunPicture recorded_picture(const Trace& trace, std::size_t most_points) {
  RunPicture picture{.to = trace.size()};
  ReducedCurve requested_curve(trace.size() + 1, most_points);
  ReducedCurve reserved_curve(trace.size() + 1, most_points);
  RecordedReserve reserve(trace);
  Bytes requested = requested_at_start(trace);
  bool knows_reserved = !trace.start.segments.empty();
  const auto add = [&](std::uint64_t moment) {
    const auto inside = static_cast<std::int64_t>(requested);
    const auto held = static_cast<std::int64_t>(reserve.bytes());
    requested_curve.add(moment, inside, inside, held);
    reserved_curve.add(moment, held, held, inside);
  };
  add(0);
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const Op op = trace.ops[event];
    const Bytes size = trace.sizes[event];
    reserve.play(event);
    knows_reserved |= obtains_memory(op);
    if (op == Op::allocate) requested += size;
    // A recording that lost its beginning may free more than it is known to hold.
    if (op == Op::free || op == Op::free_requested) requested -= std::min(requested, size);
    if (op == Op::oom && picture.ooms.size() < most_points) {
      picture.ooms.push_back({.event = event, .requested = size});
    } else if (op == Op::oom) {
      ++picture.ooms_left_out;
    }
    add(event + 1);
  }
  picture.allocated = requested_curve.points();
  if (knows_reserved) picture.reserved = reserved_curve.points();
  return picture;
}

}  // namespace memreplay
