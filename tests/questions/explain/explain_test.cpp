#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.hpp"
#include "program/recorded_device.hpp"
#include "questions/explain/explained.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording bundled(const std::string& name) {
  return read_recording(std::string(MEMREPLAY_TRACES) + "/torch/" + name);
}

Explanation explained(const Recording& recording) {
  const Subject subject(recording, recording.traces[0]);
  ExplainOptions options;
  options.settings = subject.model_of(parse_strategy("recorded"))->settings;
  return explain(subject, RecordedMoments(subject), options);
}

Explanation explained_under(const Recording& recording, std::string_view strategy,
                            const SimulatedDeviceOptions& device,
                            const ExplainOptions& options = {}) {
  const Subject subject(recording, recording.traces[0]);
  return explain(subject,
                 ReplayedMoments(Contender(subject, parse_strategy(strategy)), {.device = device}),
                 options);
}

// Blocks of 30 MiB, of which every other one is freed.
RecordingWriter every_other(Slot blocks) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < blocks; ++slot) writer.alloc(slot, 30 * kMiB);
  for (Slot slot = 0; slot < blocks; slot += 2) writer.free(slot);
  return writer;
}

TEST(Explain, MoreThanThereIsIsShortage) {
  const Recording recording = every_other(10).alloc(20, 200 * kMiB).recording();
  const Explanation e = explained_under(recording, "torch", {.capacity = 320 * kMiB});
  EXPECT_EQ(e.cause, Cause::shortage);
  EXPECT_EQ(e.event, 15u);
  EXPECT_EQ(e.live_requested, 150 * kMiB);
  EXPECT_EQ(e.spare(), -30 * static_cast<std::int64_t>(kMiB));
}

TEST(Explain, WhatFitsButNotInOnePieceIsFragmentation) {
  // A first block of 90 MiB is cut for two small ones: what is free of it cannot be returned.
  RecordingWriter writer;
  writer.alloc(0, 90 * kMiB).free(0).alloc(1, 20 * kMiB).alloc(2, 20 * kMiB).free(1);
  const Recording recording = writer.alloc(3, 60 * kMiB).recording();
  const Explanation e = explained_under(recording, "torch", {.capacity = 100 * kMiB});
  EXPECT_EQ(e.cause, Cause::fragmentation);
  EXPECT_EQ(e.event, 5u);
  EXPECT_EQ(e.reserved, 90 * kMiB);
  EXPECT_EQ(e.largest_free, 50 * kMiB);
  EXPECT_EQ(e.free_inside, 70 * kMiB);
  EXPECT_EQ(e.pins.pinned, 70 * kMiB);
  EXPECT_EQ(e.spare(), 20 * static_cast<std::int64_t>(kMiB));
}

TEST(Explain, WhatOthersHoldIsOutsideAndALimitIsOne) {
  const Recording recording = RecordingWriter().alloc(0, 60 * kMiB).recording();
  const Explanation others = explained_under(
      recording, "torch", {.capacity = 100 * kMiB, .reserve = 50 * kMiB}, {.total = 100 * kMiB});
  EXPECT_EQ(others.cause, Cause::outside);
  const Explanation limit = explained_under(recording, "bfc:limit=40MiB", {.capacity = 100 * kMiB},
                                            {.total = 100 * kMiB});
  EXPECT_EQ(limit.cause, Cause::limit);
  EXPECT_EQ(limit.allowance(), 40 * kMiB);
  EXPECT_EQ(limit.device_free, 100 * kMiB);
}

TEST(Explain, AnArenaThatIsFullIsALimit) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 65; ++slot) writer.alloc(slot, 4'000'000);
  const Recording full = writer.recording();
  const Explanation e = explained_under(full, "buddy", {.capacity = 450 * kMiB});
  EXPECT_EQ(e.cause, Cause::limit);
  EXPECT_EQ(e.allowance(), 256 * kMiB);
  EXPECT_EQ(e.device_free, 194 * kMiB);
}

TEST(Explain, HolesInsideAnArenaAreFragmentation) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 64; ++slot) writer.alloc(slot, 4'000'000);
  for (Slot slot = 0; slot < 64; slot += 2) writer.free(slot);
  const Recording holes = writer.alloc(64, 40 * kMiB).recording();
  const Explanation e = explained_under(holes, "buddy", {.capacity = 450 * kMiB});
  EXPECT_EQ(e.cause, Cause::fragmentation);
  EXPECT_EQ(e.pins.pinned, 128 * kMiB);
}

TEST(Explain, WithoutAFailureTheRequestsThatFittedNoHoleAreNamed) {
  RecordingWriter writer;
  const std::uint32_t small = writer.stack({"net.py:3 small"});
  const std::uint32_t large = writer.stack({"net.py:9 large"});
  for (Slot slot = 0; slot < 10; ++slot) writer.alloc(slot, 20 * kMiB, small);
  for (Slot slot = 0; slot < 10; slot += 2) writer.free(slot);
  const Recording recording = writer.alloc(10, 60 * kMiB, large).recording();
  const Explanation e = explained_under(recording, "direct", {});
  EXPECT_TRUE(e.unfitted.empty()) << "it keeps nothing";
  const Explanation torch = explained_under(recording, "torch", {});
  EXPECT_EQ(torch.cause, Cause::none);
  ASSERT_EQ(torch.unfitted.size(), 1u);
  EXPECT_EQ(torch.unfitted[0].place, "net.py:9 large");
  EXPECT_EQ(torch.unfitted[0].requests, 1u);
  EXPECT_EQ(torch.unfitted[0].reserved, 60 * kMiB);
  EXPECT_EQ(torch.unfitted[0].free, 100 * kMiB);
}

TEST(Explain, WhatWasReturnedBeforeTheReservedPeakIsNoReasonForIt) {
  RecordingWriter writer;
  writer.alloc(0, 30 * kMiB).alloc(1, 30 * kMiB).free(0).free(1).alloc(2, 50 * kMiB).free(2);
  writer.add(Op::empty_cache, kNoSlot, 0);
  writer.alloc(3, 120 * kMiB).free(3).add(Op::empty_cache, kNoSlot, 0).alloc(4, 20 * kMiB);
  EXPECT_TRUE(explained_under(writer.recording(), "torch", {}).unfitted.empty());
}

TEST(Explain, WithoutAnOomItLooksAtTheLivePeak) {
  const Recording recording =
      RecordingWriter().alloc(0, 30 * kMiB).alloc(1, 30 * kMiB).free(0).recording();
  const Explanation e = explained_under(recording, "torch", {});
  EXPECT_EQ(e.cause, Cause::none);
  EXPECT_EQ(e.moment, Explanation::Moment::peak);
  EXPECT_EQ(e.event, 1u);
  EXPECT_EQ(e.reserved, 60 * kMiB);
  EXPECT_EQ(e.live_requested, 60 * kMiB);
  EXPECT_EQ(e.gap(), 0u);
}

// 50 MiB find no room in twice 30 that are cached; later 70 are live, and nothing else is held.
Recording reserved_first() {
  RecordingWriter writer;
  writer.alloc(0, 30 * kMiB).alloc(1, 30 * kMiB).free(0).free(1).alloc(2, 50 * kMiB).free(2);
  return writer.add(Op::empty_cache, kNoSlot, 0).alloc(3, 70 * kMiB).recording();
}

TEST(Explain, TheReservedPeakStandsBesideTheLivePeak) {
  const Explanation e = explained_under(reserved_first(), "torch", {});
  EXPECT_EQ(e.event, 7u);
  EXPECT_EQ(e.live_requested, 70 * kMiB);
  EXPECT_EQ(e.reserved_peak.event, 4u);
  EXPECT_EQ(e.reserved_peak.reserved, 110 * kMiB);
  EXPECT_EQ(e.reserved_peak.requested, 50 * kMiB);
  EXPECT_EQ(e.gap(), 40 * kMiB);
}

TEST(Explain, TheReservedPeakMayBeLookedAt) {
  const Explanation e =
      explained_under(reserved_first(), "torch", {}, {.at = {At::Kind::reserved_peak}});
  EXPECT_EQ(e.moment, Explanation::Moment::reserved_peak);
  EXPECT_EQ(e.event, 4u);
  EXPECT_EQ(e.reserved, 110 * kMiB);
}

TEST(Explain, OfALongReservedPeakItTakesTheEventWithMostLive) {
  // All lies in one segment of 20 MiB, which is there from the first event on.
  const Recording recording = RecordingWriter()
                                  .alloc(0, 9 * kMiB)
                                  .free(0)
                                  .alloc(1, 8 * kMiB)
                                  .alloc(2, 7 * kMiB)
                                  .free(1)
                                  .recording();
  const Explanation e = explained_under(recording, "torch", {}, {.at = {At::Kind::reserved_peak}});
  EXPECT_EQ(e.event, 3u);
  EXPECT_EQ(e.live_requested, 15 * kMiB);
}

TEST(Explain, AnOomThatDoesNotHappenCannotBeLookedAt) {
  EXPECT_THROW(explained_under(reserved_first(), "torch", {}, {.at = {At::Kind::oom}}), UsageError);
}

// A block of 40 MiB, and no event.
Recording state_alone() {
  Recording recording = RecordingWriter().recording();
  recording.traces[0].start.segments = {{.size = 40 * kMiB,
                                         .blocks = {{.size = 40 * kMiB,
                                                     .requested = 40 * kMiB,
                                                     .state = BlockState::allocated,
                                                     .slot = 0}}}};
  recording.traces[0].slot_count = 1;
  return recording;
}

TEST(Explain, WithoutARequestNobodyKnows) {
  const Explanation e = explained_under(state_alone(), "torch", {});
  EXPECT_EQ(e.cause, Cause::unknown);
  EXPECT_EQ(e.moment, Explanation::Moment::end);
  EXPECT_FALSE(e.event);
  EXPECT_EQ(e.live_requested, 40 * kMiB);
}

TEST(Explain, WhatWasThereBeforeTheRecordingMayFindNoRoom) {
  const Explanation e = explained_under(state_alone(), "torch", {.capacity = 20 * kMiB});
  EXPECT_EQ(e.cause, Cause::shortage);
  EXPECT_FALSE(e.at_oom);
}

TEST(Explain, AnEventMayBeChosen) {
  const Recording recording = RecordingWriter().alloc(0, 30 * kMiB).alloc(1, 30 * kMiB).recording();
  const Explanation e = explained_under(recording, "torch", {}, {.at = {At::Kind::event, 0}});
  EXPECT_EQ(e.live_requested, 30 * kMiB);
}

TEST(Explain, RoundingIsLostInTheClassOfItsSize) {
  const Recording recording = RecordingWriter().alloc(0, 3 * kMiB + 1).alloc(1, 700).recording();
  const Explanation e = explained_under(recording, "torch", {}, {.at = {At::Kind::event, 1}});
  ASSERT_EQ(e.rounding.size(), 2u);
  EXPECT_EQ(e.rounding[0].from, 2 * kMiB);
  EXPECT_EQ(e.rounding[0].lost(), 511u);
  EXPECT_EQ(e.rounding[1].from, 512u);
  EXPECT_EQ(e.rounding[1].lost(), 1024u - 700u);
}

TEST(Explain, PhasesHaveTheirPeaks) {
  RecordingWriter writer;
  writer.annotate("load", true).alloc(0, 10).annotate("load", false);
  writer.annotate("step", true).alloc(1, 30).free(1).annotate("step", false).alloc(2, 5);
  const Explanation e =
      explained_under(writer.recording(), "torch", {}, {.phases = {{"tail", 3, 4, 0}}});
  ASSERT_EQ(e.phases.size(), 3u);
  EXPECT_EQ(e.phases[0].name, "load");
  EXPECT_EQ(e.phases[0].peak_requested, 10u);
  EXPECT_EQ(e.phases[1].peak_requested, 40u);
  EXPECT_EQ(e.phases[1].peak_event, 1u);
  EXPECT_EQ(e.phases[2].peak_requested, 15u);
}

TEST(Explain, ARecordedOomNeedsNoModel) {
  const Explanation e = explained(bundled("gpt_train_oom.pickle"));
  EXPECT_EQ(e.cause, Cause::fragmentation);
  EXPECT_EQ(e.event, 373u);
  EXPECT_EQ(e.room, 5226 * kMiB);
  EXPECT_EQ(e.asked, 760 * kMiB);
  EXPECT_EQ(e.reserved, 4536 * kMiB);
  EXPECT_EQ(e.segments, 67u);
  EXPECT_EQ(e.pins.pinned, e.free_inside);  // right after everything was released
  EXPECT_EQ(e.unplaced, 0u);
}

TEST(Explain, BlocksAboveTheSplitLimitAreKeptWhole) {
  const Explanation e = explained(bundled("expandable.pickle"));
  EXPECT_EQ(e.reserved, 14060 * kMiB);
  EXPECT_GT(e.kept_whole, 13000 * kMiB);
}

// What is read off the recording and what the model comes to must be the same memory.
class ExplainBundled : public testing::TestWithParam<const char*> {};

TEST_P(ExplainBundled, TheRecordedMemoryIsThatOfTheModel) {
  const Recording recording = bundled(GetParam());
  const Subject subject(recording, recording.traces[0]);
  ASSERT_EQ(subject.verified()->verdict, Verdict::exact);
  SimulatedDeviceOptions device;
  if (const auto room = recorded_room(subject)) device.capacity = room->bytes;
  const RecordedMoments recorded(subject);
  const ReplayedMoments replayed(Contender(subject, parse_strategy("recorded")),
                                 {.device = device});
  const std::uint64_t events = subject.trace().size();
  std::uint64_t compared = 0;
  for (std::uint64_t event = 0; event <= events; event += std::max<std::uint64_t>(events / 7, 1)) {
    // Right before a request: what leads up to one is a matter of its call.
    while (event < events && !is_request(subject.trace().ops[event])) ++event;
    const auto holds = [&](const Moment& moment) {
      std::vector<std::tuple<Bytes, std::uint64_t, std::uint64_t, bool>> segments;
      for (const SegmentInfo& s : moment.memory.segments) {
        Bytes free = 0;
        std::uint64_t slots = 0;
        for (const BlockInfo& b : s.blocks) {
          if (b.state == BlockState::free) free += b.size;
          if (b.state == BlockState::allocated) slots += b.slot + 1;
        }
        segments.emplace_back(s.size - free, free, slots, s.expandable);
      }
      // Segments that the request will obtain are in the recording already.
      std::erase_if(segments, [](const auto& s) { return std::get<0>(s) == 0; });
      std::ranges::sort(segments);
      return segments;
    };
    const Moment from_recording = recorded.before(event);
    EXPECT_EQ(from_recording.unplaced, 0u);
    EXPECT_EQ(holds(from_recording), holds(replayed.before(event))) << "event " << event;
    ++compared;
  }
  EXPECT_GE(compared, 5u);
}

INSTANTIATE_TEST_SUITE_P(Recordings, ExplainBundled,
                         testing::Values("gpt_train_oom.pickle", "seq_growth.pickle",
                                         "split_expandable.pickle", "fragmentation.pickle",
                                         "layers_4.pickle", "graph_pool.pickle",
                                         "pools_kept_whole.pickle", "side_streams.pickle"));

// The truth is in the recordings of the same program under other settings.
TEST(ExplainCorpus, NoShortageWhereAnotherSettingRanThroughAndOneWhereMoreIsLiveThanThere) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  struct Member {
    fs::path pickle;
    nlohmann::json sidecar;
  };
  std::map<std::string, std::vector<Member>> families;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream in(file.path());
    const std::string stem = file.path().stem();
    families[stem.substr(0, stem.rfind('.'))].push_back(
        {fs::path(file.path()).replace_extension(".pickle"), nlohmann::json::parse(in)});
  }
  const auto failed = [](const Member& member) {
    return member.sidecar.value("oom_caught", 0) > 0 || !member.sidecar["ended_by_oom"].is_null();
  };
  int explained_recordings = 0;
  for (const auto& [family, members] : families) {
    const bool one_ran_through = !std::ranges::all_of(members, failed);
    for (const Member& member : members) {
      if (!failed(member) || !fs::exists(member.pickle)) continue;
      const Recording recording = read_recording(member.pickle);
      const Explanation e = explained(recording);
      if (!e.at_oom) continue;  // a rejection by throw_on_cudamalloc_oom leaves no trace
      ++explained_recordings;
      const Bytes capacity = member.sidecar["capacity_mib"].get<Bytes>() * kMiB;
      SCOPED_TRACE(member.pickle.stem());
      EXPECT_NE(e.cause, Cause::none);
      if (one_ran_through) {
        EXPECT_NE(e.cause, Cause::shortage);
      }
      if (e.live_requested + e.requested > capacity) {
        EXPECT_EQ(e.cause, Cause::shortage);
      }
    }
  }
  EXPECT_GE(explained_recordings, 15);
}

TEST(ExplainCorpus, AtTheEndItIsWhatTheOriginalCounted) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  int compared = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".pickle") continue;
    std::ifstream in(fs::path(file.path()).replace_extension(".json"));
    const nlohmann::json sidecar = nlohmann::json::parse(in);
    const Recording recording = read_recording(file.path());
    if (recording.traces.size() != 1 || sidecar["memory_stats"].is_null()) continue;
    const Subject subject(recording, recording.traces[0]);
    if (subject.verified()->verdict != Verdict::exact) continue;
    const Moment moment = RecordedMoments(subject).before(subject.trace().size());
    Bytes allocated = 0;
    Bytes active = 0;
    for (const SegmentInfo& segment : moment.memory.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::allocated) allocated += block.size;
        if (block.state != BlockState::free) active += block.size;
      }
    }
    SCOPED_TRACE(file.path().stem());
    const auto& stats = sidecar["memory_stats"];
    EXPECT_EQ(allocated, stats["allocated_bytes.all.current"].get<Bytes>());
    EXPECT_EQ(active, stats["active_bytes.all.current"].get<Bytes>());
    EXPECT_EQ(reserved_bytes(moment.memory), stats["reserved_bytes.all.current"].get<Bytes>());
    ++compared;
  }
  EXPECT_GE(compared, 150);
}

}  // namespace
}  // namespace memreplay
