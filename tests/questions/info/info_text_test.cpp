#include <gtest/gtest.h>

#include "questions/info/info_report.hpp"

namespace memreplay {
namespace {

TEST(InfoText, SaysWhatTheRecordingCoversAndWhetherToTrustIt) {
  TraceSummary trace;
  trace.path = "warm.pickle";
  trace.detail = "PyTorch snapshot, protocol 4";
  trace.file_bytes = 344 * kKiB;
  trace.events = 1469;
  trace.allocs = 700;
  trace.duration_us = 400000;
  trace.starts_empty = false;
  trace.preexisting_blocks = 310;
  trace.preexisting_bytes = 3 * kGiB;
  trace.settings = "";
  trace.peak_reserved = 5328 * kMiB;
  trace.peak_reserved_event = 41;
  trace.retries = 39;
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(
      text.find(" warm.pickle   PyTorch snapshot, protocol 4, 344 KiB, 1 device\n"
                " covers        1,469 events in 0.4 s, after 310 blocks (3072 MiB) that existed"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("peak requested 0 B at the start, peak reserved 5328 MiB at event 41, 0 OOM"),
            std::string::npos);
  EXPECT_NE(text.find(" 39"), std::string::npos);
  EXPECT_NE(text.find("retries"), std::string::npos);
  EXPECT_NE(text.find("Other settings: an estimate"), std::string::npos);
}

TEST(InfoText, SaysWhatRanBeforeALateStartAndHowToRecordBetter) {
  TraceSummary trace;
  trace.path = "warm.pickle";
  trace.events = 1469;
  trace.allocs = 700;
  trace.starts_empty = false;
  trace.warm_class = "larger";
  trace.largest_earlier_step = 2.25;
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(text.find("larger: a step of about 2.25 times the largest one recorded"),
            std::string::npos);
  EXPECT_NE(text.find("Other settings: a poor estimate"), std::string::npos);
  EXPECT_NE(text.find("a step of the largest shape."), std::string::npos);
}

TEST(InfoText, WhereNothingWasRequestedItShowsTheStateAndHowToRecord) {
  TraceSummary trace;
  trace.path = "state.pickle";
  trace.format = "torch-snapshot";
  trace.state = StateSummary{60 * kMiB, 3, 40 * kMiB, 7, 5};
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(text.find("60 MiB reserved in 3 segments, 40 MiB of it live in 7 blocks, 5 of them"),
            std::string::npos);
  EXPECT_NE(text.find("torch.cuda.memory._record_memory_history("), std::string::npos);
}

TEST(InfoText, SaysWhatAFormatLacksAndWhereARepairIsMetFirst) {
  TraceSummary trace;
  trace.events = 2;
  trace.lacks = {"alignments", "threads"};
  trace.dropped = {{"frees of null", 1200}, {"rows of other devices", 1}};
  trace.first_places = {{"frees of null", "line 14"}};
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(text.find("dropped       frees of null (1,200, first at line 14), rows of other"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("lacks         alignments, threads\n"), std::string::npos) << text;
}

TEST(InfoText, OfARecordingWithoutATraceItSaysWhy) {
  TraceSummary trace;
  trace.lacks = {"addresses"};
  trace.why_no_trace = "has 3 [memory] events without addresses";
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(
      text.find("lacks         addresses\n trust         nothing to replay: it has 3 [memory]"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("covers"), std::string::npos);
}

TEST(InfoText, SaysWhatBlocksAndSegmentsShowOfSettingsThatAreNotStated) {
  TraceSummary trace;
  trace.path = "npu.pickle";
  trace.expandable_segments = true;
  trace.request_padding = 32;
  trace.request_padding_range = {1, 256};
  EXPECT_NE(to_text(InfoAnswer{.traces = {trace}}, {}).find("settings not stated"),
            std::string::npos);
  const auto says_range = [&] {
    std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    EXPECT_NE(text.find("eachrequestpaddedby32bytes"), std::string::npos) << text;
    return text.find("(1to256wouldexplainitsblockstoo)") != std::string::npos;
  };
  EXPECT_TRUE(says_range());
  trace.request_padding_range = {32, 32};
  EXPECT_FALSE(says_range());
}

TEST(InfoText, WhatWasLeftOutIsCountedByReason) {
  TraceSummary trace;
  trace.path = "a.csv";
  trace.events = 100;
  trace.complete = trace.gapless = false;
  trace.dropped = {{"free of an unknown block", 12}};
  const std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  EXPECT_NE(text.find(" dropped       free of an unknown block (12)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("some events are missing"), std::string::npos);
}

TEST(InfoText, ALongPathStandsOnALineOfItsOwn) {
  TraceSummary trace;
  trace.path = std::string(90, 'x');
  trace.detail = "PyTorch snapshot";
  EXPECT_TRUE(to_text(InfoAnswer{.traces = {trace}}, {})
                  .starts_with(" " + trace.path + "\n               PyTorch snapshot, "));
}

TEST(InfoText, AFullRingIsCalledFullAndHasLostNothingSince) {
  TraceSummary trace;
  trace.path = "ring.pickle";
  trace.events = 9'998;
  trace.starts_empty = trace.complete = false;
  trace.full_ring = 10'000;
  std::string text = to_text(InfoAnswer{.traces = {trace}}, {});
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != text.npos;) {
    text.erase(at, text.find_first_not_of(" \n", at) - at - 1);
    text[at++] = ' ';
  }
  EXPECT_NE(text.find("the ring was full: 10,000 entries; nothing lost since"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace memreplay
