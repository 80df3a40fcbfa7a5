#include "trace/event_count.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "trace/recorded_levels.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

TEST(EventCount, TellsOfPiecesWhatTheLevelsTellOfTheWhole) {
  std::mt19937 draw(1);
  for (int turn = 0; turn < 200; ++turn) {
    TraceBuilder builder(0);
    EventCount count;
    EventColumns piece;
    EventTotals expected;
    for (std::size_t event = 0, events = draw() % 300; event < events; ++event) {
      const Op op = static_cast<Op>(draw() % 8);
      const Bytes size = draw() % 1000;
      const std::int64_t us = static_cast<std::int64_t>(draw() % 5000) - 2500;
      builder.add(op, builder.lane(0, {}), 0, size);
      builder.trace().times_us.push_back(us);
      expected.allocs += op == Op::allocate;
      expected.frees += op == Op::free || op == Op::free_requested;
      expected.ooms += op == Op::oom;
      expected.program_alone &= op != Op::oom;
      if (!expected.times_us) expected.times_us.emplace(us, us);
      expected.times_us->first = std::min(expected.times_us->first, us);
      expected.times_us->second = std::max(expected.times_us->second, us);
      piece.ops.push_back(op);
      piece.sizes.push_back(size);
      piece.times_us.push_back(us);
      if (draw() % 20 == 0) count.add(std::exchange(piece, {}));
    }
    count.add(piece);
    const Trace trace = builder.finish();
    RecordedLevels levels(trace);
    for (std::size_t event = 0; event < trace.size(); ++event) levels.play(event);
    expected.events = trace.size();
    expected.peak_requested = levels.peaks().live().requested;
    expected.peak_event = levels.peaks().live().event;
    EXPECT_EQ(count.totals(), expected);
  }
}

}  // namespace
}  // namespace memreplay
