#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "extensions/diff/diff_report.hpp"
#include "extensions/diff/phrases.hpp"

namespace memreplay {
namespace {

using nlohmann::json;

PlaceDiff place(const std::string& name, std::vector<SizeDiff> sizes) {
  PlaceDiff diff{.place = {name, name, {name}, {name}}, .sizes = std::move(sizes)};
  for (const SizeDiff& size : diff.sizes) {
    diff.a_bytes += size.size * size.a_blocks;
    diff.b_bytes += size.size * size.b_blocks;
    diff.a_blocks += size.a_blocks;
    diff.b_blocks += size.b_blocks;
  }
  return diff;
}

// What two recordings hold at their peaks.
RecordingsAnswer holding(Bytes a, Bytes b, std::vector<PlaceDiff> places) {
  RecordingsAnswer answer;
  answer.a.path = "before.pickle";
  answer.b.path = "after.pickle";
  answer.diff.a_peak.requested = answer.a.peak_requested = a;
  answer.diff.b_peak.requested = answer.b.peak_requested = b;
  answer.diff.places = std::move(places);
  answer.diff.a.spans = answer.diff.b.spans = {SpanPeak{}};
  for (const PlaceDiff& diff : answer.diff.places) {
    for (const SizeDiff& size : diff.sizes) {
      const std::uint64_t both = std::min(size.a_blocks, size.b_blocks);
      answer.diff.in_both.blocks += both;
      answer.diff.only_a.blocks += size.a_blocks - both;
      answer.diff.only_b.blocks += size.b_blocks - both;
    }
  }
  return answer;
}

std::string text_of(const RecordingsAnswer& answer) { return to_text(answer, {}); }

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(DiffPhrases, BlocksWithoutAMatchAreNamed) {
  EXPECT_EQ(blocks_phrase(place("f", {{4 * kMiB, 8, 0}, {6 * kMiB, 0, 8}})),
            "8 x 4 MiB -> 8 x 6 MiB");
  EXPECT_EQ(blocks_phrase(place("f", {{4 * kMiB, 2, 5}})), "+3 x 4 MiB");
  EXPECT_EQ(blocks_phrase(place("f", {{4 * kMiB, 5, 2}})), "-3 x 4 MiB");
  EXPECT_EQ(blocks_phrase(place("f", {{1, 0, 2}, {2, 0, 1}, {3, 0, 1}})), "+4 blocks of 3 sizes");
  EXPECT_EQ(blocks_phrase(place("f", {{1, 2, 2}})), "");
}

TEST(DiffPhrases, SizesThatWouldLookAlikeAreExact) {
  EXPECT_EQ(sizes_apart(kGiB, kGiB).first, "1024 MiB");
  EXPECT_EQ(sizes_apart(1024 * kMiB + 1, 1024 * kMiB + 2).second, "1,073,741,826 B");
}

TEST(RecordingsDiffText, TheAnswerNamesWhereMostOfItIs) {
  const std::string text = text_of(holding(384 * kMiB, 456 * kMiB,
                                           {place("model.py:13 forward", {{8 * kMiB, 7, 12}}),
                                            place("model.py:9 __init__", {{16 * kMiB, 4, 6}})}));
  EXPECT_TRUE(
      text.starts_with("B needs 72 MiB more at its peak than A: 456 MiB instead of 384 MiB. "
                       "Most of it: model.py:13 forward,\n40 MiB."))
      << text;
}

TEST(RecordingsDiffText, APlaceWithAnotherNameIsNoDifference) {
  const std::string text =
      text_of(holding(32 * kMiB, 33 * kMiB,
                      {place("old", {{6 * kMiB, 5, 0}}), place("new", {{6 * kMiB, 0, 5}}),
                       place("grown", {{kMiB, 0, 1}})}));
  EXPECT_TRUE(says(text, "Most of it: grown, 1 MiB.")) << text;
}

TEST(RecordingsDiffText, LessNamesWhatShrank) {
  const std::string text = text_of(
      holding(8 * kMiB, 6 * kMiB, {place("f", {{kMiB, 5, 2}}), place("g", {{kMiB, 3, 4}})}));
  EXPECT_TRUE(
      text.starts_with("B needs 2 MiB less at its peak than A: 6 MiB instead of 8 MiB. "
                       "Most of it: f, 3 MiB."))
      << text;
}

TEST(RecordingsDiffText, NothingThatDiffersIsSaidPlainly) {
  const std::string text = text_of(holding(kMiB, kMiB, {place("f", {{kMiB, 1, 1}})}));
  EXPECT_TRUE(text.starts_with("No difference: ")) << text;
  EXPECT_FALSE(says(text, "Live at the peaks")) << text;
}

TEST(RecordingsDiffText, TheSameNeedInMoreReservedMemoryIsNoSameness) {
  RecordingsAnswer answer = holding(kMiB, kMiB, {place("f", {{kMiB, 1, 1}})});
  answer.a.peak_reserved = answer.diff.a_peak.reserved = 2 * kMiB;
  answer.b.peak_reserved = answer.diff.b_peak.reserved = 4 * kMiB;
  answer.a.settings = "";
  answer.b.settings = "expandable_segments:True";
  const std::string text = text_of(answer);
  EXPECT_TRUE(text.starts_with(
      "Both need 1 MiB at their peaks; B reserves 2 MiB more: 4 MiB instead of 2 MiB.\n"))
      << text;
  EXPECT_TRUE(says(text, "A was recorded with default settings, B with")) << text;
}

TEST(RecordingsDiffText, TheReservedPeakOfALateRecordingIsAnEstimate) {
  RecordingsAnswer answer = holding(kMiB, kMiB, {place("f", {{kMiB, 1, 1}})});
  for (SidePeaks* side : {&answer.diff.a, &answer.diff.b}) {
    side->run = memreplay::Run{.strategy = "torch"};
    side->run->metrics.peak_reserved = 2 * kMiB;
  }
  answer.diff.b.run->metrics.peak_reserved = 4 * kMiB;
  answer.diff.b.run->interval = RunInterval{.peak_reserved = {3 * kMiB, 9 * kMiB}};
  answer.diff.a_peak.reserved = 2 * kMiB;
  answer.diff.b_peak.reserved = 4 * kMiB;
  EXPECT_TRUE(text_of(answer).starts_with(
      "Both need 1 MiB at their peaks; B reserves ≈ 2 MiB more: ≈ 4 MiB (3 MiB to 9 MiB)"))
      << text_of(answer);
  answer.diff.at_step = 1;
  EXPECT_FALSE(says(text_of(answer), "≈")) << text_of(answer);
}

TEST(RecordingsDiffText, PoolsAndStreamsThatAreNotTheDefaultAreNamed) {
  PlaceDiff diff = place("f", {{kMiB, 0, 1}});
  diff.private_pool = true;
  diff.stream = 2;
  EXPECT_TRUE(says(text_of(holding(0, kMiB, {diff})), "f, private pool, side stream 2"));
}

TEST(RecordingsDiffText, TheFirstStepsAndThoseThatDifferMostAreShown) {
  RecordingsAnswer answer = holding(kMiB, kMiB, {});
  for (SidePeaks* side : {&answer.diff.a, &answer.diff.b}) {
    side->steps = {Steps::Source::markers, std::vector<std::uint64_t>(20)};
    side->spans.assign(21, SpanPeak{.requested = kMiB});
  }
  answer.diff.b.spans[17].requested = 9 * kMiB;
  const std::string text = text_of(answer);
  EXPECT_TRUE(says(text, "\n    1 ")) << text;
  EXPECT_TRUE(says(text, "\n    17 ")) << text;
  EXPECT_FALSE(says(text, "\n    18 ")) << text;
}

TEST(RecordingsDiffJson, WhatIsNotKnownIsNull) {
  const auto report = json::parse(to_json(holding(1, 2, {})));
  EXPECT_TRUE(report["totals"]["peak_reserved_bytes"]["a"].is_null());
  EXPECT_TRUE(report["totals"]["oom_retries"]["b"].is_null());
  EXPECT_TRUE(report["first_difference"].is_null());
  EXPECT_TRUE(report["at_step"].is_null());
  EXPECT_TRUE(report["device"].is_null());
  EXPECT_EQ(report["totals"]["peak_requested_bytes"]["b"], 2);
}

StrategiesAnswer two_strategies() {
  StrategiesAnswer answer;
  answer.trace.path = "run.pickle";
  answer.trace.events = 100;
  answer.streams = {0};
  answer.diff.runs[0].strategy = "torch";
  answer.diff.runs[1].strategy = "bfc";
  return answer;
}

TEST(StrategiesDiffText, WhoNeverPartIsSaidPlainly) {
  const std::string text = to_text(two_strategies(), {});
  EXPECT_TRUE(
      text.starts_with("No difference: after every event torch and bfc reserve the same.\n"))
      << text;
}

TEST(StrategiesDiffText, WhereTheyPartBothAreShownSideBySide) {
  StrategiesAnswer answer = two_strategies();
  answer.diff.runs[0].metrics.peak_reserved = 6 * kMiB;
  answer.diff.runs[1].metrics.peak_reserved = 4 * kMiB;
  Parting parting{.event = 7, .op = Op::allocate, .step = 2, .size = kMiB, .place = "a.py:1 f"};
  parting.holds[0].reserved = 6 * kMiB;
  parting.holds[1].reserved = 4 * kMiB;
  answer.diff.reserved = parting;
  answer.diff.lead = Lead{.more = 0, .from = 7, .to = 100, .furthest = parting};
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(
      text.starts_with("bfc reserves 2 MiB less at its peak than torch: 4 MiB instead of 6 MiB.\n"))
      << text;
  EXPECT_TRUE(says(text, "They diverge at event 7, step 2: the request of 1 MiB, a.py:1 f"))
      << text;
  EXPECT_TRUE(says(text, "A reserves more from event 7 to the end, by 2 MiB after event 7."))
      << text;
}

// Two runs of a recording that starts late: 5 to 7 MiB, and what is given.
StrategiesAnswer two_estimates(Bytes reserved, BytesInterval range) {
  StrategiesAnswer answer = two_strategies();
  answer.diff.reserved = Parting{.event = 7};
  answer.diff.runs[0].metrics.peak_reserved = 6 * kMiB;
  answer.diff.runs[0].interval = RunInterval{.peak_reserved = {5 * kMiB, 7 * kMiB}};
  answer.diff.runs[1].metrics.peak_reserved = reserved;
  answer.diff.runs[1].interval = RunInterval{.peak_reserved = range};
  return answer;
}

TEST(StrategiesDiffText, EstimatesStandWithTheirRanges) {
  const std::string text = to_text(two_estimates(3 * kMiB, {2 * kMiB, 4 * kMiB}), {});
  EXPECT_TRUE(
      text.starts_with("bfc reserves ≈ 3 MiB less at its peak than torch: ≈ 3 MiB (2 MiB to 4 MiB) "
                       "instead of"))
      << text;
  EXPECT_TRUE(says(text, "≈ 6 MiB (5 MiB to 7 MiB)  ≈ 3 MiB (2 MiB to 4 MiB)")) << text;
  EXPECT_TRUE(says(text, "≈ -3 MiB\n")) << text;
}

TEST(StrategiesDiffText, WhereRangesOverlapNobodyReservesLess) {
  const std::string text = to_text(two_estimates(4 * kMiB, {3 * kMiB, 5 * kMiB}), {});
  EXPECT_TRUE(text.starts_with("Which of them reserves less at its peak is undecided: torch ≈ 6 "))
      << text;
  EXPECT_TRUE(says(text, "undecided\n")) << text;
}

TEST(StrategiesDiffJson, WithoutADifferenceTheKeysAreThere) {
  const auto report = json::parse(to_json(two_strategies()));
  EXPECT_TRUE(report["first_difference"].is_null());
  EXPECT_TRUE(report["largest_difference"].is_null());
  EXPECT_EQ(report["runs"].size(), 2u);
}

}  // namespace
}  // namespace memreplay
