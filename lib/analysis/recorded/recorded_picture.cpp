#include "analysis/recorded/recorded_picture.hpp"

#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"

namespace memreplay {
RunPicture recorded_picture(const Trace& trace, std::size_t most_points) {
  RunPicture picture{.to = trace.size()};
  ReducedCurve requested_curve(trace.size() + 1, most_points);
  ReducedCurve reserved_curve(trace.size() + 1, most_points);
  RecordedLevels levels(trace);
  const auto add = [&](std::uint64_t moment) {
    const auto inside = static_cast<std::int64_t>(levels.requested());
    const auto held = static_cast<std::int64_t>(levels.reserved());
    requested_curve.add(moment, inside, inside, held);
    reserved_curve.add(moment, held, held, inside);
  };
  add(0);
  const auto play = [&](std::uint64_t event, Op op, Bytes size) {
    levels.play(event, op, size);
    if (op == Op::oom && picture.ooms.size() < most_points) {
      picture.ooms.push_back({.event = event, .requested = size});
    } else if (op == Op::oom) {
      ++picture.ooms_left_out;
    }
    add(event + 1);
  };
  for_each_block(trace, ColdColumns::of_requests, [&](std::uint64_t first, const auto& events) {
    for (std::size_t i = 0; i < events.ops.size(); ++i) {
      play(first + i, events.ops[i], events.sizes[i]);
    }
    return true;
  });
  if (const auto event = levels.peaks().reserved().event) picture.fullest = *event + 1;
  picture.allocated = requested_curve.points();
  if (shows_reserved(trace)) picture.reserved = reserved_curve.points();
  return picture;
}

}  // namespace memreplay
