#include <algorithm>
#include <numeric>
#include <random>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "metamorphic/tried.hpp"

// One program in other words, such as other ids or times, gives equal results.

namespace memreplay {
namespace {

class Programs : public Rule {};
MEMREPLAY_TRY_RULES(Programs);

TEST_P(Programs, NamesOfBlocksAndTheHourDoNotMatter) {
  Recording other = recording_;
  for (Trace& trace : other.traces) {
    std::vector<Slot> slot_now(trace.slot_count);
    std::iota(slot_now.begin(), slot_now.end(), Slot{0});
    std::ranges::shuffle(slot_now, random_);
    const auto rename = [&](Slot& slot) { slot = slot == kNoSlot ? slot : slot_now[slot]; };
    std::ranges::for_each(trace.slots, rename);
    for (MemoryState* state : {&trace.start, &trace.end}) {
      for (SegmentInfo& segment : state->segments) {
        for (BlockInfo& block : segment.blocks) rename(block.slot);
      }
    }
    for (std::uint64_t& id : trace.ids) id = id * 7 + 13;
    for (std::int64_t& time : trace.times_us) time += 3'600'000'000;
  }
  for (Annotation& annotation : other.annotations) annotation.time_us += 3'600'000'000;
  expect_same(replayed(other), replayed(recording_));
}

/// Whether what one stream freed never serves another, of any size that is tried.
bool treats_streams_apart(const StrategySpec& spec) {
  if (plan_wish(spec)) return false;  // it knows all of them together
  for (const Bytes size : {Bytes{700}, 3 * kMiB, 40 * kMiB}) {
    const auto held_after = [&](StreamIndex second) {
      SimulatedDevice device;
      const auto strategy = make_strategy(spec, {.device = device});
      for (int i = 0; i < 64; ++i) strategy->free(strategy->allocate({.size = size})->handle, {});
      for (int i = 0; i < 64; ++i) strategy->allocate({.size = size, .stream = second});
      return device.usage().held;
    };
    if (held_after(0) >= held_after(1)) return false;
  }
  return true;
}

/// The events with those of other streams before or behind them, wherever several requests, or
/// several frees, follow one another. What is live at most stays the same.
void take_other_turns(Trace& trace, std::mt19937_64& random) {
  std::vector<std::size_t> order(trace.size());
  std::iota(order.begin(), order.end(), 0);
  const auto trades = [&](std::size_t event, Op op) {
    return event < trace.size() && trace.ops[event] == op && (op == Op::allocate || op == Op::free);
  };
  for (std::size_t from = 0, to = 0; from < trace.size(); from = std::max(to, from + 1)) {
    for (to = from; trades(to, trace.ops[from]); ++to) {
    }
    const auto turn = [&, salt = random()](std::size_t event) {
      return (trace.lane(event).stream + 1) * salt;
    };
    if (to > from) std::ranges::stable_sort(order.begin() + from, order.begin() + to, {}, turn);
  }
  for_each_column([&](auto column) {
    const auto before = trace.*column;
    for (std::size_t i = 0; i < before.size(); ++i) (trace.*column)[i] = before[order[i]];
  });
}

TEST_P(Programs, StreamsMayTakeTurnsOtherwiseWhereTheyAreTreatedApart) {
  if (is_torch(recording_)) GTEST_SKIP() << "its addresses tell in which turns";
  std::vector<StrategySpec> apart = strategies_for(recording_);
  std::erase_if(apart, [](const StrategySpec& spec) { return !treats_streams_apart(spec); });
  ASSERT_FALSE(apart.empty());
  Recording other = recording_;
  for (Trace& trace : other.traces) take_other_turns(trace, random_);
  const ReplayAnswer now = replayed(inputs_of(other), apart);
  const ReplayAnswer before = replayed(inputs_of(recording_), apart);
  for (std::size_t i = 0; i < apart.size(); ++i) {
    const RunMetrics &a = now.traces[0].runs[i].metrics, &b = before.traces[0].runs[i].metrics;
    SCOPED_TRACE("-s " + apart[i].text);
    EXPECT_EQ(a.peak_requested, b.peak_requested);
    EXPECT_EQ(a.peak_allocated, b.peak_allocated);
    EXPECT_EQ(a.peak_reserved, b.peak_reserved);
  }
}

TEST_P(Programs, EditsThatChangeNothingLeaveEveryFigure) {
  const std::vector<StrategySpec> strategies = strategies_for(recording_);
  const ReplayAnswer before = replayed(recording_);
  for (const std::string edit : {"scale:size>=0,factor=1", "dtype:size>=0,from=fp32,to=fp32",
                                 "shorten:size>=0,events=1000000000"}) {
    SCOPED_TRACE(edit);
    const ReplayAnswer after = replayed(inputs_of({&recording_}, {edit}), strategies);
    expect_same(after, before);
  }
}

TEST_P(Programs, AnEditThatSelectsNothingIsRefused) {
  for (const std::string edit : {"drop:size>=1EiB", "scale:size>=1EiB,factor=2",
                                 "shorten:size>=1EiB,events=1", "offload:size>=1EiB"}) {
    EXPECT_THROW(inputs_of({&recording_}, {edit}), UsageError) << edit;
  }
}

TEST_P(Programs, ASliceOfTheWholeIsTheWholeAndTwoSlicesAddUp) {
  const std::size_t events = recording_.traces.front().size();
  if (recording_.traces.size() > 1 || events < 2) GTEST_SKIP() << "not two slices";
  const auto slice = [&](std::uint64_t from, std::uint64_t to) {
    return replayed(recording_, {.from = TracePoint{from}, .to = TracePoint{to}});
  };
  const ReplayAnswer whole = replayed(recording_);
  expect_same(slice(0, events), whole);
  const std::uint64_t middle = 1 + random_() % (events - 1);
  const ReplayAnswer first = slice(0, middle), second = slice(middle, events);
  for (std::size_t i = 0; i < whole.traces[0].runs.size(); ++i) {
    const auto& whole_run = whole.traces[0].runs[i];
    const RunMetrics &all = whole_run.metrics, &a = first.traces[0].runs[i].metrics,
                     &b = second.traces[0].runs[i].metrics;
    // A slice has a plan of its own, and an estimate is one of a whole program.
    if (plan_wish(parse_strategy(whole_run.strategy)) || !whole_run.exact) continue;
    SCOPED_TRACE(fmt::format("-s {} up to event {} and from it on", whole_run.strategy, middle));
    EXPECT_EQ(std::max(a.peak_requested, b.peak_requested), all.peak_requested);
    EXPECT_EQ(std::max(a.peak_allocated, b.peak_allocated), all.peak_allocated);
    EXPECT_EQ(std::max(a.peak_reserved, b.peak_reserved), all.peak_reserved);
    EXPECT_EQ(std::max(a.segments_peak, b.segments_peak), all.segments_peak);
    EXPECT_EQ(b.end_reserved, all.end_reserved);
    for (const auto count :
         {&RunMetrics::events, &RunMetrics::allocs, &RunMetrics::ooms, &RunMetrics::oom_retries,
          &RunMetrics::recorded_ooms_served, &RunMetrics::device_allocs, &RunMetrics::device_frees,
          &RunMetrics::device_maps, &RunMetrics::device_unmaps, &RunMetrics::syncs,
          &RunMetrics::stream_waits}) {
      EXPECT_EQ(a.*count + b.*count, all.*count);
    }
  }
}

}  // namespace
}  // namespace memreplay
