#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "trace/reader.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int exact = 0;
  std::vector<std::string> others;
};

// Trials on the way to a verdict leave nothing behind.
bool nothing_twice(const Reading& reading) {
  const auto key = [](const ProgramCall& call) {
    return std::tuple(call.event, call.kind, call.pool);
  };
  std::set<decltype(key(ProgramCall{}))> calls;
  for (const ProgramCall& call : reading.calls) {
    if (!calls.insert(key(call)).second) return false;
  }
  std::set<std::uint64_t> deferred;
  for (const Deferral& deferral : reading.deferrals) {
    if (!deferred.insert(deferral.event).second) return false;
  }
  return std::is_sorted(reading.calls.begin(), reading.calls.end(),
                        [](const auto& x, const auto& y) { return x.event < y.event; });
}

Tally verify_all(const fs::path& folder) {
  Tally tally;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".pickle") continue;
    const Recording recording = read_recording(entry.path().string());
    for (const Trace& trace : recording.traces) {
      const VerifyResult result = verify(recording, trace);
      if (result.verdict == Verdict::unsupported) {
        EXPECT_FALSE(result.reason.empty()) << entry.path();
        continue;
      }
      EXPECT_TRUE(nothing_twice(result.reading)) << entry.path();
      const bool whole = result.verdict == Verdict::exact &&
                         result.allocs_matched == result.allocs &&
                         result.segment_events_matched == result.segment_events;
      if (whole) {
        ++tally.exact;
      } else {
        tally.others.push_back(entry.path().filename().string());
      }
    }
  }
  return tally;
}

TEST(Verify, EveryPublicRecordingIsReproducedToTheByte) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/real";
  if (!fs::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  const Tally tally = verify_all(folder);
  EXPECT_GT(tally.exact, 0);
  EXPECT_TRUE(tally.others.empty()) << testing::PrintToString(tally.others);
}

TEST(Verify, EveryRecordingOfTheOriginalIsReproducedToTheByte) {
  for (const char* folder : {"corpus/torch", "corpus/warm"}) {
    const fs::path path = fs::path(MEMREPLAY_SHARED) / folder;
    if (!fs::exists(path)) GTEST_SKIP() << "no recordings in " << path;
    const Tally tally = verify_all(path);
    EXPECT_GT(tally.exact, 0);
    EXPECT_TRUE(tally.others.empty()) << testing::PrintToString(tally.others);
  }
}

TEST(Verify, EveryBundledRecordingIsReproducedToTheByte) {
  const Tally tally = verify_all(MEMREPLAY_TRACES);
  EXPECT_GT(tally.exact, 0);
  EXPECT_TRUE(tally.others.empty()) << testing::PrintToString(tally.others);
}

void add(Trace& trace, Op op, Slot slot, Bytes size, Address at) {
  trace.ops.push_back(op);
  trace.slots.push_back(slot);
  trace.sizes.push_back(size);
  trace.lane_of.push_back(0);
  trace.align_log2.push_back(0);
  trace.addresses.push_back(at);
}

// A recording of one block at `address`, freed and allocated again at `again`.
Recording one_segment(Address address, Address again) {
  Recording recording;
  recording.format = "torch-snapshot";
  recording.settings.present = true;
  recording.settings.oldest_release = "2.14";
  Trace& trace = recording.traces.emplace_back();
  trace.lanes.resize(1);
  trace.streams = {0};
  trace.pools.resize(1);
  trace.slot_count = 1;
  add(trace, Op::segment_alloc, kNoSlot, 2 * kMiB, address);
  add(trace, Op::allocate, 0, 1000, address);
  add(trace, Op::free_requested, 0, 1000, address);
  add(trace, Op::free_completed, 0, 1000, address);
  add(trace, Op::allocate, 0, 500, again);
  return recording;
}

TEST(Verify, SaysWhereTheModelAndTheRecordingPartAndGoesOnBehindIt) {
  const Recording recording = one_segment(0x10000000, 0x10000400);
  const VerifyResult result = verify(recording, recording.traces[0]);
  EXPECT_EQ(result.verdict, Verdict::resynchronised);
  EXPECT_EQ(result.allocs_matched, 1u);
  EXPECT_EQ(result.forced, 1u);
  ASSERT_TRUE(result.first_divergence);
  EXPECT_EQ(result.first_divergence->event, 4u);
  EXPECT_EQ(result.first_divergence->expected, "0x10000400");
  EXPECT_EQ(result.first_divergence->got, "0x10000000");
}

/// The device of a recording of the corpus, as the sidecar beside it states it.
StatedDevice device_of(fs::path recording) {
  std::ifstream file(recording.replace_extension(".json"));
  const auto sidecar = nlohmann::json::parse(file);
  return {.capacity = sidecar.at("capacity_mib").get<Bytes>() * kMiB,
          .reserve = sidecar.at("context_mib").get<Bytes>() * kMiB};
}

TEST(Verify, EveryFullDeviceOfTheCorpusIsTheOneOfItsSidecarAndNoSmallerOne) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!fs::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".pickle") || name.find("-c") == name.npos) continue;
    const Recording recording = read_recording(entry.path().string());
    const Trace& trace = recording.traces.at(0);
    const StatedDevice device = device_of(entry.path());
    EXPECT_EQ(verify(recording, trace, {}, device).verdict, Verdict::exact) << name;
    RecordedLevels levels(trace);
    for (std::size_t i = 0; i < trace.size(); ++i) levels.play(i);
    const Bytes too_small = levels.peaks().reserved().reserved - kMiB;
    const VerifyResult smaller = verify(recording, trace, {}, StatedDevice{too_small});
    EXPECT_NE(smaller.verdict, Verdict::exact) << name;
    EXPECT_TRUE(smaller.first_divergence) << name;
  }
}

TEST(Verify, AStatedDeviceGrantsNoMoreThanItHas) {
  const Recording recording = one_segment(0x10000000, 0x10000000);
  const Trace& trace = recording.traces[0];
  EXPECT_EQ(verify(recording, trace, {}, StatedDevice{2 * kMiB}).verdict, Verdict::exact);
  const VerifyResult full = verify(recording, trace, {}, StatedDevice{3 * kMiB, 2 * kMiB});
  ASSERT_TRUE(full.first_divergence);
  EXPECT_EQ(full.first_divergence->event, 1u);
  EXPECT_EQ(full.first_divergence->expected, "2 MiB from the device");
  EXPECT_EQ(full.first_divergence->got, "a full device");
  EXPECT_EQ(full.first_divergence->why, "0 B held, and 1 MiB for the allocator");
}

TEST(Verify, AStatedDeviceRefusesNothingThatItHas) {
  Recording recording = one_segment(0x10000000, 0x10000000);
  Trace& trace = recording.traces[0];
  add(trace, Op::oom, kNoSlot, 6 * kMiB, kMiB);
  EXPECT_EQ(verify(recording, trace, {}, StatedDevice{3 * kMiB}).verdict, Verdict::exact);
  const VerifyResult roomy = verify(recording, trace, {}, StatedDevice{64 * kMiB});
  ASSERT_TRUE(roomy.first_divergence);
  EXPECT_EQ(roomy.first_divergence->event, 5u);
  EXPECT_EQ(roomy.first_divergence->expected, "a full device");
  EXPECT_EQ(roomy.first_divergence->got, "20 MiB from the device");
}

TEST(Verify, AgreesWhereEveryPlaceIsTheModels) {
  const Recording recording = one_segment(0x10000000, 0x10000000);
  const VerifyResult result = verify(recording, recording.traces[0]);
  EXPECT_EQ(result.verdict, Verdict::exact);
  EXPECT_EQ(result.allocs_matched, 2u);
  EXPECT_EQ(result.segment_events_matched, 1u);
}

// The settings of a recording are the last ones; here expandable segments came on the way.
TEST(Verify, FreesOfBlocksThatNoSegmentHoldsArePassedOver) {
  Recording recording = one_segment(0x10000000, 0x10000000);
  Trace& trace = recording.traces[0];
  const Slot unknown = trace.slot_count++;
  for (const Op op : {Op::free_requested, Op::free_completed}) {
    add(trace, op, unknown, 512, 0x20000000);
  }
  add(trace, Op::free_completed, unknown, 512, 0x30000000);
  add(trace, Op::segment_alloc, kNoSlot, 20 * kMiB, 0x40000000);
  add(trace, Op::allocate, trace.slot_count++, 2 * kMiB, 0x40000000);
  const VerifyResult result = verify(recording, trace);
  EXPECT_EQ(result.verdict, Verdict::exact);
  EXPECT_TRUE(result.reading.deferrals.empty());
}

TEST(Verify, SettingsThatChangedOnTheWayAreFound) {
  Recording recording = one_segment(0x10000000, 0x10000000);
  recording.settings.expandable_segments = true;
  Trace& trace = recording.traces[0];
  trace.slot_count = 2;
  add(trace, Op::segment_map, kNoSlot, 40 * kMiB, 0x20000000);
  add(trace, Op::allocate, 1, 30 * kMiB, 0x20000000);
  const VerifyResult result = verify(recording, trace);
  EXPECT_EQ(result.verdict, Verdict::exact);
  EXPECT_EQ(result.allocs_matched, 3u);
  EXPECT_EQ(result.reading.settings_calls.size(), 2u);
  EXPECT_NE(result.reason.find("changed its allocator settings before event 1"), std::string::npos)
      << result.reason;
}

// A limit of splitting that was set on the way shows by what it leaves free: of two bounds the
// narrower explains both, and is one call.
TEST(Verify, ALimitOfSplittingThatWasSetOnTheWayIsFound) {
  Recording recording = one_segment(0x10000000, 0x10000000);
  Trace& trace = recording.traces[0];
  trace.slot_count = 8;
  Slot next = 2;
  Address at = 0x100000000;
  const auto ask = [&](Bytes size) {
    add(trace, Op::segment_alloc, kNoSlot, size, at);
    add(trace, Op::allocate, next, size, at);
    at += kGiB;
    return next++;
  };
  const auto free = [&](Slot slot, Bytes size, Address address) {
    add(trace, Op::free_requested, slot, size, address);
    add(trace, Op::free_completed, slot, size, address);
  };
  const Slot large = ask(100 * kMiB);
  const Slot small = ask(60 * kMiB);
  free(large, 100 * kMiB, 0x100000000);
  ask(30 * kMiB);
  const std::uint64_t first = trace.size() - 1;
  free(small, 60 * kMiB, 0x100000000 + kGiB);
  ask(30 * kMiB);
  const VerifyResult result = verify(recording, trace);
  EXPECT_EQ(result.verdict, Verdict::exact) << result.reason;
  ASSERT_EQ(result.reading.settings_calls.size(), 1u) << result.reason;
  EXPECT_EQ(result.reading.settings_calls[0].event, first);
  EXPECT_EQ(result.reading.settings_calls[0].settings.max_split_size, 60 * kMiB);
}

// Many completions and releases before one request, which no call explains: every number of
// completions with every number of releases would have to be tried.
TEST(Verify, WhatNothingExplainsIsNotTriedWithoutEnd) {
  constexpr Slot kBlocks = 1000;
  const auto at = [](Slot block) { return Address{1} << 40 | Address{block} << 25; };
  Recording recording = one_segment(0x10000000, 0x10000000);
  Trace& trace = recording.traces[0];
  trace.slot_count = kBlocks + 1;
  for (Slot i = 1; i < kBlocks; ++i) {
    add(trace, Op::segment_alloc, kNoSlot, 20 * kMiB, at(i));
    add(trace, Op::allocate, i, 20 * kMiB, at(i));
  }
  for (const Op op : {Op::free_requested, Op::free_completed}) {
    for (Slot i = 1; i < kBlocks; ++i) add(trace, op, i, 20 * kMiB, at(i));
  }
  for (Slot i = 2; i < kBlocks; ++i) add(trace, Op::segment_free, kNoSlot, 20 * kMiB, at(i));
  add(trace, Op::segment_alloc, kNoSlot, 24 * kMiB, at(kBlocks));
  add(trace, Op::allocate, kBlocks, 23 * kMiB, at(kBlocks));
  const VerifyResult result = verify(recording, trace);
  EXPECT_NE(result.verdict, Verdict::exact);
  EXPECT_NE(result.reason.find("too many possible explanations of event"), std::string::npos)
      << result.reason;
}

TEST(Verify, ARecordingWithoutAllocationsIsUnsupportedAndSaysWhy) {
  Recording recording = one_segment(0x10000000, 0x10000000);
  recording.traces[0].ops.assign(5, Op::marker);
  const VerifyResult result = verify(recording, recording.traces[0]);
  EXPECT_EQ(result.verdict, Verdict::unsupported);
  EXPECT_EQ(result.reason, "no allocation in its history");
}

}  // namespace
}  // namespace memreplay
