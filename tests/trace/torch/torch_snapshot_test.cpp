#include "trace/snapshot/torch_snapshot.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "trace/pickle_bytes.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

TorchSnapshot from_json(const std::string& bytes) { return read_torch_json({"x.json", bytes}); }

std::string json_complaint(const std::string& bytes) {
  try {
    from_json(bytes);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

const std::string kSegment =
    R"({"device": 1, "address": 4096, "total_size": 2048, "stream": 7, "segment_type": "small", "blocks": )";

TEST(TorchSnapshot, ABareListOfSegmentsIsASnapshotWithoutTraces) {
  const auto snapshot = from_json("[" + kSegment + R"([{"size": 2048, "state": "inactive"}]}])");
  ASSERT_EQ(snapshot.segments.size(), 1u);
  const TorchSegment& segment = snapshot.segments[0];
  EXPECT_FALSE(snapshot.has_traces);
  EXPECT_EQ(segment.device, 1);
  EXPECT_EQ(segment.stream, 7u);
  EXPECT_TRUE(segment.small_pool);
  EXPECT_EQ(snapshot.pools[segment.pool], (PoolId{0, 0}));
}

TEST(TorchSnapshot, BlocksOf20GetAddressesAndTheirNewestLife) {
  const auto snapshot = from_json(R"({"segments": [)" + kSegment +
                                  R"([{"size": 512, "state": "inactive"},
          {"size": 1536, "state": "active_allocated", "history":
            [{"addr": 1, "real_size": 1500, "frames": [{"name": "f", "filename": "a", "line": 3}]},
             {"addr": 1, "real_size": 9}]}]}], "device_traces": []})");
  const auto& blocks = snapshot.segments.at(0).blocks;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].address, 4096u);
  EXPECT_EQ(blocks[1].address, 4096u + 512);
  EXPECT_EQ(blocks[1].requested, 1500u);
  EXPECT_EQ(blocks[1].state, BlockState::allocated);
  EXPECT_EQ(snapshot.texts[snapshot.frames[snapshot.stacks[blocks[1].stack][0]].name], "f");
  EXPECT_EQ(snapshot.settings.oldest_release, "2.0");
}

TEST(TorchSnapshot, SettingsAndTheReleaseThatWritesThemAreKept) {
  const auto snapshot = from_json(R"({"segments": [], "device_traces": [[]], "allocator_settings":
      {"PYTORCH_CUDA_ALLOC_CONF": "a:b", "max_split_size": -1, "garbage_collection_threshold": 0.5,
       "expandable_segments": true, "max_round_threshold": -1,
       "roundup_power2_divisions": {"1": 4, "32768": 2}}, "external_annotations": []})");
  const RecordedSettings& settings = snapshot.settings;
  EXPECT_TRUE(settings.present);
  EXPECT_EQ(settings.conf, "a:b");
  EXPECT_EQ(settings.max_split_size, -1);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.5);
  EXPECT_EQ(settings.expandable_segments, true);
  EXPECT_EQ(settings.roundup_power2_divisions->front(), 4u);
  EXPECT_EQ(settings.roundup_power2_divisions->back(), 2u);
  EXPECT_EQ(settings.oldest_release, "2.13");
}

TEST(TorchSnapshot, EntriesKeepPoolTagTimeAndFreeBytesOfAnOom) {
  const auto snapshot =
      read(memreplay::snapshot(entry("alloc", 4096, 512,
                                     text("user_metadata") + text("step 1") + text("time_us") +
                                         number(17) + text("pool_id") + "K\1K\2\x86") +
                               dict(text("action") + text("oom") + text("device_free") +
                                    number(99) + text("size") + number(5))));
  const auto& trace = snapshot.device_traces.at(0);
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(snapshot.texts[trace[0].tag], "step 1");
  EXPECT_EQ(snapshot.pools[trace[0].pool], (PoolId{1, 2}));
  EXPECT_EQ(trace[0].time_us, 17);
  EXPECT_EQ(trace[1].address, 99u);
  EXPECT_EQ(trace[1].pool, kUnknownPool);
  EXPECT_TRUE(snapshot.has_times);
  EXPECT_TRUE(snapshot.has_entry_pools);
  EXPECT_EQ(snapshot.settings.oldest_release, "2.12");
}

TEST(TorchSnapshot, UnknownActionsAreCountedByNameAndLeftOut) {
  const auto snapshot = read(memreplay::snapshot(
      entry("alloc", 1, 1) + entry("user_defined", 0, 0) + entry("user_defined", 0, 0)));
  EXPECT_EQ(snapshot.device_traces.at(0).size(), 1u);
  EXPECT_EQ(snapshot.unknown_actions.at("user_defined"), 2u);
}

TEST(TorchSnapshot, AddressesFrom2To63OnComeSignedOrUnsigned) {
  const std::string above = "\x8a\x09\0\0\0\0\0\0\0\x80\0"s;  // 2^63
  const std::string unsigned_entry =
      dict(text("action") + text("alloc") + text("addr") + above + text("size") + number(1));
  const auto snapshot = read(memreplay::snapshot(unsigned_entry + entry("alloc", INT64_MIN, 1)));
  EXPECT_EQ(snapshot.device_traces[0][0].address, Address{1} << 63);
  EXPECT_EQ(snapshot.device_traces[0][1].address, Address{1} << 63);
}

TEST(TorchSnapshot, HostEntriesAreCountedOnly) {
  const auto snapshot = read(kProto4 +
                             dict(text("segments") + kList + text("host_traces") +
                                  list(entry("alloc", 1, 1) + entry("alloc", 2, 1))) +
                             kStop);
  EXPECT_EQ(snapshot.host_entries, 2u);
  EXPECT_TRUE(snapshot.device_traces.empty());
}

TEST(TorchSnapshot, AnnotationsKeepStageNameAndTime) {
  const auto snapshot = from_json(R"({"segments": [], "external_annotations": [
      {"stage": "START", "name": "forward", "device": 1, "time_us": 5},
      {"stage": "END", "name": "forward", "device": 1, "time_us": 9}]})");
  ASSERT_EQ(snapshot.annotations.size(), 2u);
  EXPECT_TRUE(snapshot.annotations[0].begins);
  EXPECT_FALSE(snapshot.annotations[1].begins);
  EXPECT_EQ(snapshot.texts[snapshot.annotations[1].text], "forward");
  EXPECT_EQ(snapshot.annotations[1].time_us, 9);
}

TEST(TorchSnapshot, AFrameWithoutALineHasNone) {
  const auto line_of = [](const TorchSnapshot& snapshot) { return snapshot.frames.at(0).line; };
  const auto pickled = [](const std::string& line) {
    const std::string made =
        dict(text("name") + text("f") + text("filename") + text("a.py") + text("line") + line);
    return read(memreplay::snapshot(entry("alloc", 4096, 512, text("frames") + list(made))));
  };
  const std::string two_to_64_less_one = "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\0"s;
  EXPECT_EQ(line_of(pickled(two_to_64_less_one)), kNoLine);
  EXPECT_EQ(line_of(pickled(number(-1))), kNoLine);
  EXPECT_EQ(line_of(pickled(number(7))), 7u);
  for (const char* line : {"18446744073709551615", "-1"}) {
    EXPECT_EQ(
        line_of(from_json(R"({"segments": [], "device_traces": [[{"action": "alloc", "addr": 1,
        "size": 512, "frames": [{"name": "f", "filename": "a.py", "line": )" +
                          std::string(line) + "}]}]]}")),
        kNoLine);
  }
  EXPECT_THROW(pickled(number(-2)), InputError);
  EXPECT_THROW(pickled(number(std::int64_t{1} << 40)), InputError);
}

TEST(TorchSnapshot, AWrongValueIsNamedByItsPath) {
  EXPECT_EQ(complaint(memreplay::snapshot(entry("alloc", 1, 1) + entry("alloc", 1, -5))),
            "x.pickle: device_traces[0][1].size is -5; expected a whole number of bytes");
  EXPECT_EQ(json_complaint(R"({"segments": [{"total_size": 1}]})"),
            "x.json: segments[0].address is missing; expected an address");
  EXPECT_EQ(json_complaint("[" + kSegment + R"([{"size": 1.5, "state": "inactive"}]}])"),
            "x.json: segments[0].blocks[0].size is 1.5; expected a whole number of bytes");
  EXPECT_EQ(json_complaint("[" + kSegment + R"([{"size": 1, "state": "lost"}]}])"),
            "x.json: segments[0].blocks[0].state is 'lost'; expected active_allocated, "
            "active_pending_free or inactive");
  EXPECT_THAT(json_complaint(R"({"segments": 5, "device_traces": "x"})"),
              HasSubstr("segments is 5; expected a list"));
  EXPECT_THAT(
      json_complaint(R"({"device_traces": [[{"action": "alloc", "addr": 1, "size": 1e30}]]})"),
      HasSubstr("device_traces[0][0].size is 1e+30"));
}

// Three blocks from before: one is freed, of one the free is requested, one stays.
TEST(TorchSnapshot, TheStackOfAFreeIsNotThatOfTheRequest) {
  const auto frames = [](const std::string& name) {
    return R"("frames": [{"name": ")" + name + R"(", "filename": "a.py", "line": 3}])";
  };
  const auto freed = [&](const char* action, int address) {
    return fmt::format(R"({{"action": "{}", "addr": {}, "size": 512, {}}})", action, address,
                       frames("who_freed"));
  };
  const auto block = [&](const char* state, const std::string& more) {
    return fmt::format(R"({{"size": 512, "requested_size": 512, "state": "{}"{}}})", state,
                       more.empty() ? "" : ", " + more);
  };
  const std::string json =
      R"({"segments": [{"device": 0, "address": 4096, "total_size": 2048, "segment_type": "small",
          "blocks": [)" +
      block("inactive", "") + "," + block("active_pending_free", frames("who_asked")) + "," +
      block("active_allocated", frames("who_asked_too")) + "," + block("inactive", "") +
      R"(]}], "device_traces": [[)" + freed("free_requested", 4096) + "," +
      freed("free_completed", 4096) + "," + freed("free_requested", 4608) + "]]}";
  const Recording recording =
      torch_recording(from_json(json), "x.json", "torch-snapshot", "PyTorch snapshot");
  const auto& blocks = recording.traces.at(0).start.segments.at(0).blocks;
  const auto who = [&](std::size_t i) {
    const auto& stack = recording.stacks[blocks.at(i).stack];
    return stack.empty() ? "" : recording.texts[recording.frames[stack[0]].name];
  };
  EXPECT_EQ(who(0), "");
  EXPECT_EQ(who(1), "who_asked");
  EXPECT_EQ(who(2), "who_asked_too");
}

TEST(TorchSnapshot, OtherDocumentsAreNoSnapshots) {
  EXPECT_THAT(json_complaint("[1, 2, 3]"),
              HasSubstr("not a PyTorch snapshot: a list whose first item"));
  EXPECT_THAT(json_complaint(R"({"a": 1})"),
              HasSubstr("not a PyTorch snapshot: the top level is a dict"));
  EXPECT_THAT(complaint(kProto4 + "K\1."), HasSubstr("not a PyTorch snapshot"));
  EXPECT_THAT(json_complaint(R"({"segments": [)"), HasSubstr("x.json: byte 15: is not JSON"));
}

TEST(TorchSnapshot, BytesThatAreNoUtf8BecomeReplacementCharacters) {
  const auto snapshot = read(memreplay::snapshot(entry("alloc", 1, 1,
                                                       text("user_metadata") + text("a\xff"
                                                                                    "b"))));
  EXPECT_EQ(snapshot.texts[snapshot.device_traces[0][0].tag],
            "a\xEF\xBF\xBD"
            "b");
}

/// A recording of so many entries that begins with the free of a block from before.
Trace late_trace(int entries, const std::string& settings = "{}") {
  std::string trace = R"({"action": "free_completed", "addr": 4096, "size": 512, "stream": 0})";
  for (int i = 1; i < entries; ++i) trace += R"(, {"action": "snapshot", "addr": 0, "size": 0})";
  const std::string json = R"({"segments": [{"device": 0, "address": 4096, "total_size": 2097152,
      "stream": 0, "segment_type": "small", "blocks": [{"size": 2097152, "state": "inactive"}]}],
      "device_traces": [[)" +
                           trace + R"(]], "allocator_settings": )" + settings + "}";
  return torch_recording(from_json(json), "x.json", "torch-json", "").traces.at(0);
}

TEST(TorchSnapshot, ARoundNumberOfEntriesIsAFullRing) {
  EXPECT_EQ(late_trace(1000).coverage.full_ring, 1000u);
  EXPECT_EQ(late_trace(2500).coverage.full_ring, 2500u);
  EXPECT_EQ(late_trace(1024).coverage.full_ring, 1024u);
  EXPECT_FALSE(late_trace(1001).coverage.full_ring);
  EXPECT_FALSE(late_trace(100).coverage.full_ring);
  EXPECT_EQ(late_trace(1001, R"({"trace_alloc_max_entries": 1001})").coverage.full_ring, 1001u);
  EXPECT_FALSE(late_trace(1000, R"({"trace_alloc_max_entries": 9000})").coverage.full_ring);
}

TEST(TorchSnapshot, WhatStartsLateHasNoGapForThat) {
  const Trace trace = late_trace(3);
  EXPECT_FALSE(trace.coverage.starts_empty);
  EXPECT_TRUE(trace.coverage.gapless);
}

TEST(TorchSnapshot, SegmentsThatAreMappedShowThatTheyExpand) {
  const auto of = [](const std::string& expandable, const std::string& settings) {
    return torch_recording(
               from_json(R"({"segments": [{"device": 0, "address": 4096, "total_size": 2097152,
                   "stream": 0, "segment_type": "small", "is_expandable": )" +
                         expandable +
                         R"(, "blocks": [{"size": 2097152, "state": "inactive"}]}],
                   "device_traces": [[]])" +
                         settings + "}"),
               "x.json", "torch-json", "")
        .settings.expandable_segments;
  };
  EXPECT_EQ(of("true", ""), true);
  EXPECT_EQ(of("false", ""), std::nullopt);
  EXPECT_EQ(of("true", R"(, "allocator_settings": {"expandable_segments": false})"), false);
}

}  // namespace
}  // namespace memreplay
