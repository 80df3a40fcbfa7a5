#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "questions/convert/replay_recorder.hpp"
#include "trace/pickle/pickle_writer.hpp"
#include "trace/reader.hpp"
#include "trace/torch/torch_writer.hpp"

namespace memreplay {
namespace {

Recording bundled(const std::string& name) {
  return read_recording(std::string(MEMREPLAY_TRACES) + "/" + name);
}

Recording read_again(const Recording& recording) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("memreplay-recorded-" + std::to_string(::getpid()) + ".pickle");
  std::ofstream out(path, std::ios::binary);
  PickleWriter writer(out);
  write_torch_snapshot(recording, writer);
  out.close();
  Recording read = read_recording(path);
  std::filesystem::remove(path);
  return read;
}

/// The replay of the first device, through a file.
Recording recorded(const Recording& source, const std::string& strategy,
                   const SimulatedDeviceOptions& device = {}, ReplayResult* result = nullptr) {
  const StrategySpec spec = parse_strategy(strategy);
  const Subject subject(source, source.traces.front());
  std::vector<Trace> traces;
  RecordedReplay replay =
      record_replay(Contender(subject, spec, ProgramOptions{}), {.device = device});
  traces.push_back(std::move(replay.trace));
  if (result != nullptr) *result = std::move(replay.result);
  return read_again(snapshot_of(Contender(subject, spec), std::move(traces)));
}

Recording csv(const std::string& rows) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("memreplay-recorded-" + std::to_string(::getpid()) + ".csv");
  std::ofstream(path) << "op,id,size,stream,tag\n" << rows;
  Recording read = read_recording(path);
  std::filesystem::remove(path);
  return read;
}

std::size_t count(const Trace& trace, Op op) {
  return static_cast<std::size_t>(std::count(trace.ops.begin(), trace.ops.end(), op));
}

TEST(RecordedReplay, IsVerifiedExactlyAndReplaysToTheSamePeaks) {
  for (const char* name : {"torch/side_streams.pickle", "torch/graph_pool.pickle",
                           "torch/expandable.pickle", "maxinuse-900.csv"}) {
    const Recording source = bundled(name);
    for (const char* strategy : {"torch", "torch:expandable_segments=True",
                                 "torch:max_split_size_mb=32,roundup_power2_divisions=4"}) {
      ReplayResult made;
      const Recording again = recorded(source, strategy, {}, &made);
      const Trace& trace = again.traces.at(0);
      EXPECT_EQ(verify(again, trace).verdict, Verdict::exact) << name << " " << strategy;
      const Subject subject(again, trace);
      const ReplayResult result = Trial(Contender(subject, parse_strategy("recorded")), {}).run();
      EXPECT_EQ(result.metrics.peak_requested, made.metrics.peak_requested) << name;
      EXPECT_EQ(result.metrics.peak_allocated, made.metrics.peak_allocated) << name;
      EXPECT_EQ(result.metrics.peak_reserved, made.metrics.peak_reserved) << name;
      EXPECT_EQ(result.metrics.end_reserved, made.metrics.end_reserved) << name;
    }
  }
}

// As torch_npu leaves a recording: it pads by 32 bytes, aligns large requests in expandable
// segments, and states no settings.
TEST(RecordedReplay, OfAnAllocatorThatPadsAndAlignsIsExplainedByWhatItShows) {
  for (const Bytes alignment : {16 * kKiB, 4 * kKiB, Bytes{0}}) {
    Recording source = bundled("torch/layers_4.pickle");
    source.settings = {
        .request_padding = 32, .large_alignment = alignment, .oldest_release = "2.6"};
    const Subject subject(source, source.traces.front());
    const StrategySpec spec = parse_strategy("torch:version=2.6,expandable_segments=True");
    std::vector<Trace> traces;
    RecordedReplay replay = record_replay(Contender(subject, spec, ProgramOptions{}), {});
    traces.push_back(std::move(replay.trace));
    Recording recording = snapshot_of(Contender(subject, spec), std::move(traces));
    recording.settings = {.oldest_release = "2.6"};
    const Recording again = read_again(recording);
    const Trace& trace = again.traces.at(0);
    EXPECT_FALSE(again.settings.present);
    EXPECT_EQ(again.settings.expandable_segments, true);
    EXPECT_EQ(again.settings.request_padding, 32u);
    const VerifyResult verified = verify(again, trace);
    EXPECT_EQ(verified.verdict, Verdict::exact) << alignment << " " << verified.allocs_matched;
    EXPECT_EQ(verified.reading.large_alignment, alignment);
    const Subject read(again, trace);
    EXPECT_EQ(usual_strategy(again).name, "recorded");
    const ReplayResult result = Trial(Contender(read, parse_strategy("recorded")), {}).run();
    EXPECT_EQ(result.metrics.peak_reserved, replay.result.metrics.peak_reserved);
    EXPECT_EQ(result.metrics.peak_allocated, replay.result.metrics.peak_allocated);
  }
}

TEST(RecordedReplay, UnderEveryStrategyTheBlocksTileTheSegments) {
  const Recording source = bundled("torch/side_streams.pickle");
  for (const StrategyInfo& info : strategies()) {
    if (!info.needs_device.empty()) continue;
    const std::string name(info.example.empty() ? info.name : info.example);
    ReplayResult made;
    // So that what is charged is what was asked for.
    const Recording again = recorded(source, name, {.granularity = 1}, &made);
    Bytes live = 0;
    for (const SegmentInfo& segment : again.traces.at(0).end.segments) {
      Address at = segment.address;
      for (const BlockInfo& block : segment.blocks) {
        EXPECT_EQ(block.address, at) << name;
        at += block.size;
        if (block.state == BlockState::allocated) live += block.requested;
      }
      EXPECT_EQ(at, segment.address + segment.size) << name;
    }
    EXPECT_EQ(reserved_bytes(again.traces[0].end), made.metrics.end_reserved) << name;
    EXPECT_EQ(live, made.metrics.end_requested) << name;
    EXPECT_TRUE(again.traces[0].coverage.dropped.empty()) << name;
  }
}

TEST(RecordedReplay, ARefusedRequestIsAnOomAndItsFreeIsAbsent) {
  const Recording again = recorded(csv("a,0,8388608,0,\na,1,62914560,0,\nf,1,,0,\nf,0,,0,\n"),
                                   "torch", {.capacity = 64 * kMiB});
  const Trace& trace = again.traces.at(0);
  ASSERT_EQ(count(trace, Op::oom), 1u);
  EXPECT_EQ(count(trace, Op::allocate), 1u);
  EXPECT_EQ(count(trace, Op::free_completed), 1u);
  const auto oom =
      static_cast<std::size_t>(std::ranges::find(trace.ops, Op::oom) - trace.ops.begin());
  EXPECT_EQ(trace.sizes[oom], 60 * kMiB);
  EXPECT_EQ(trace.addresses[oom], 44 * kMiB) << "what the device had left";
}

TEST(RecordedReplay, ARequestServedAfterAllIsFreedAtOnce) {
  const Recording source = bundled("torch/gpt_train_oom.pickle");
  const std::size_t refused = count(source.traces[0], Op::oom);
  ASSERT_GT(refused, 0u);
  const Recording again = recorded(source, "torch");
  EXPECT_EQ(count(again.traces.at(0), Op::oom), 0u);
  EXPECT_EQ(count(again.traces[0], Op::allocate), count(source.traces[0], Op::allocate) + refused);
  EXPECT_EQ(verify(again, again.traces[0]).verdict, Verdict::exact);
}

TEST(RecordedReplay, WhatASynchronisationCompletesIsCompletedThere) {
  // The second request makes the allocator wait for the first block.
  const Recording source =
      csv("a,0,41943040,0,\nf,0,,0,\na,1,37748736,1,\nc,0,,0,\nf,1,,1,\nc,1,,1,\n");
  const Recording again = recorded(source, "torch", {.capacity = 48 * kMiB});
  const Trace& trace = again.traces.at(0);
  EXPECT_EQ(count(trace, Op::oom), 0u);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::segment_alloc, Op::allocate, Op::free_requested,
                                        Op::free_completed, Op::segment_free, Op::segment_alloc,
                                        Op::allocate, Op::free_requested, Op::free_completed}));
}

// Nothing is released before the request is refused: the waiting free that the allocator completes
// then looks like any other.
TEST(RecordedReplay, ARefusalAfterAFreeThatWaitedIsVerifiedExactly) {
  const Recording again =
      recorded(csv("a,0,7340032,0,\na,1,20971520,0,\na,2,3145728,0,\na,4,16777216,0,\n"
                   "a,5,16777216,0,\nf,1,,0,\na,20,16777216,0,\nc,1,,0,\n"),
               "torch:large_segment_size_mb=64", {.capacity = 64 * kMiB});
  ASSERT_EQ(count(again.traces.at(0), Op::oom), 1u);
  EXPECT_EQ(verify(again, again.traces[0]).verdict, Verdict::exact);
}

TEST(RecordedReplay, FreesThatWaitOnAFullDeviceAreVerifiedExactly) {
  std::mt19937 random(14);
  int refusals = 0;
  for (int round = 0; round < 150; ++round) {
    std::string rows;
    std::vector<int> live, waiting;
    const auto take = [&](std::vector<int>& from) {
      const std::size_t at = random() % from.size();
      const int id = from[at];
      from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
      return std::to_string(id);
    };
    for (int id = 0; id < 40; ++id) {
      const auto choice = random() % 4;
      if (choice == 0 && !live.empty()) {
        waiting.push_back(std::stoi(take(live)));
        rows += "f," + std::to_string(waiting.back()) + ",,0,\n";
      } else if (choice == 1 && !waiting.empty()) {
        rows += "c," + take(waiting) + ",,0,\n";
      } else {
        rows +=
            "a," + std::to_string(id) + ',' + std::to_string((1 + random() % 24) * kMiB) + ",0,\n";
        live.push_back(id);
      }
    }
    const char* strategy = round % 2 == 0 ? "torch" : "torch:large_segment_size_mb=64";
    const Recording again = recorded(csv(rows), strategy, {.capacity = 96 * kMiB});
    const VerifyResult verified = verify(again, again.traces.at(0));
    refusals += count(again.traces[0], Op::oom) > 0;
    EXPECT_EQ(verified.verdict, Verdict::exact) << round << "\n" << rows;
  }
  EXPECT_GT(refusals, 50);
}

TEST(RecordedReplay, WhatWasThereBeforeIsThereAgain) {
  const Recording source = bundled("torch/warm_ring.pickle");
  const Recording again = recorded(source, "recorded");
  EXPECT_EQ(again.traces.at(0).coverage.preexisting_bytes,
            source.traces[0].coverage.preexisting_bytes);
  EXPECT_EQ(again.traces[0].start.segments.size(), source.traces[0].start.segments.size());
}

TEST(RecordedReplay, StacksTimesAndAnnotationsAreKept) {
  const Recording source = bundled("torch/layers_4.pickle");
  const Recording again = recorded(source, "torch:expandable_segments=True");
  EXPECT_EQ(again.annotations.size(), source.annotations.size());
  EXPECT_EQ(again.stacks.size(), source.stacks.size());
  const auto first_time = [](const Trace& trace) {
    return trace.times_us[static_cast<std::size_t>(std::ranges::find(trace.ops, Op::allocate) -
                                                   trace.ops.begin())];
  };
  EXPECT_EQ(first_time(again.traces.at(0)), first_time(source.traces[0]));
  EXPECT_EQ(again.settings.conf, "expandable_segments:True");
}

TEST(RecordedReplay, TextsOfACsvAreUserMetadata) {
  const Recording again = recorded(csv("a,0,512,0,weights\nm,,,0,step\n"), "bump");
  const Trace& trace = again.traces.at(0);
  const auto alloc =
      static_cast<std::size_t>(std::ranges::find(trace.ops, Op::allocate) - trace.ops.begin());
  EXPECT_EQ(again.texts[trace.tags[alloc]], "weights");
  EXPECT_EQ(trace.ops.back(), Op::marker);
  EXPECT_EQ(again.texts[trace.tags.back()], "step");
  EXPECT_FALSE(again.settings.present) << "not PyTorch's allocator";
}

}  // namespace
}  // namespace memreplay
