#include <gtest/gtest.h>

#include "questions/convert/replay_recorder.hpp"
#include "replay/contender.hpp"
#include "replay/trial.hpp"
#include "run/late_start/late_recording.hpp"
#include "run/late_start/late_start.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

/// Some small blocks that come and go; then, from the event given back on, blocks of all sizes.
std::size_t play_program(RecordingWriter& writer) {
  for (Slot slot = 0; slot < 40; ++slot) writer.alloc(slot, 20'000 + 3'000 * slot);
  for (Slot slot = 0; slot < 40; slot += 2) writer.free(slot);
  for (int step = 0; step < 6; ++step) {
    const Bytes grown = static_cast<Bytes>(step) * 700'000;
    for (Slot i = 0; i < 8; ++i) writer.alloc(100 + i, 3 * kMiB * (i + 1) + grown);
    for (Slot i = 0; i < 8; ++i) writer.alloc(200 + i, 9'000 * (i + 1));
    for (Slot i = 0; i < 8; i += 2) writer.free(100 + i).free(200 + i);
    writer.alloc(300, 50 * kMiB + grown).free(300);
    for (Slot i = 1; i < 8; i += 2) writer.free(100 + i).free(200 + i);
  }
  return 60;
}

/// What PyTorch's allocator records of that program: all of it, and from the middle on.
struct Recordings {
  Recording whole;
  Recording late;
  std::size_t cut = 0;
};

Recordings recordings() {
  RecordingWriter writer;
  const std::size_t begins_large = play_program(writer);
  const Recording source = writer.recording();
  const Subject subject(source, source.traces.at(0));
  const StrategySpec spec = parse_strategy("torch");
  Recordings made;
  made.whole =
      snapshot_of(Contender(subject, spec), {record_replay(Contender(subject, spec), {}).trace});
  made.whole.format = "torch-snapshot";
  std::size_t requests = 0;
  const Trace& trace = made.whole.traces.at(0);
  while (requests < 40) requests += trace.ops[made.cut++] == Op::allocate;
  while (trace.ops[made.cut] != Op::segment_alloc || trace.sizes[made.cut] <= 2 * kMiB) ++made.cut;
  EXPECT_GT(made.cut, begins_large);
  made.late = begun_late(made.whole, made.cut);
  return made;
}

TEST(SmallStart, UnderOtherRulesForLargeRequestsTheReplayIsExact) {
  const Recordings made = recordings();
  const Subject whole(made.whole, made.whole.traces.at(0));
  const Subject late(made.late, made.late.traces.at(0));
  ASSERT_TRUE(starts_small(late.trace()));
  for (const char* conf :
       {"max_split_size_mb:20", "large_segment_size_mb:64", "roundup_power2_divisions:[1:0,2:4]",
        "max_split_size_mb:32,max_non_split_rounding_mb:64"}) {
    SCOPED_TRACE(conf);
    const StrategySpec spec = torch_spec_from_conf(conf);
    Trial truth(Contender(whole, spec), {.measuring = {.from = made.cut}});
    Trial replayed(Contender(late, spec), {});
    const ReplayResult result = replayed.run();
    EXPECT_FALSE(Contender(late, spec).start_matters(std::nullopt, result));
    EXPECT_EQ(result.metrics.peak_reserved, truth.run().metrics.peak_reserved);
  }
}

TEST(SmallStart, UnderOtherRulesForSmallOnesNoMoreIsOpenThanWasThere) {
  const Recordings made = recordings();
  const Subject whole(made.whole, made.whole.traces.at(0));
  const Subject late(made.late, made.late.traces.at(0));
  const LateStart start(late, {});
  for (const char* conf : {"expandable_segments:True", "roundup_power2_divisions:4"}) {
    SCOPED_TRACE(conf);
    const StrategySpec spec = torch_spec_from_conf(conf);
    const Contender contender(late, spec);
    const auto estimate = start.instead_of(replay(contender, {}).result, contender, {});
    ASSERT_TRUE(estimate);
    const BytesInterval& peak = estimate->peak_reserved.interval;
    EXPECT_LE(peak.high - peak.low, 8 * kMiB);
    Trial truth(Contender(whole, spec), {.measuring = {.from = made.cut}});
    const Bytes reserved = truth.run().metrics.peak_reserved;
    EXPECT_LE(peak.low, reserved);
    EXPECT_GE(peak.high, reserved);
  }
}

}  // namespace
}  // namespace memreplay
