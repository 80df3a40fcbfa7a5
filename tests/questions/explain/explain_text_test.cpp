#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/explain/explain_report.hpp"
#include "questions/explain/phrases.hpp"

namespace memreplay {
namespace {

// A device of 100 MiB, of which 10 belong to others, with 60 live of 80 reserved.
ExplainedDevice device_of(Cause cause, Bytes requested) {
  ExplainedDevice device;
  device.trace.path = "oom.pickle";
  device.streams = {0};
  device.pool_names = {"", "(0, 1)"};
  Explanation& e = device.explanation;
  e.cause = cause;
  e.at_oom = true;
  e.moment = Explanation::Moment::oom;
  e.event = 7;
  e.total = 100 * kMiB;
  e.room = 90 * kMiB;
  e.device_free = 10 * kMiB;
  e.reserved = 80 * kMiB;
  e.live_requested = e.live_allocated = 60 * kMiB;
  e.free_inside = 20 * kMiB;
  e.requested = e.asked = requested;
  e.pools = {{.pool = 0, .reserved = 60 * kMiB},
             {.pool = 1, .reserved = 20 * kMiB, .free = 8 * kMiB}};
  e.pins.pinned = 12 * kMiB;
  e.pins.by_place = {{"model.py:41 forward", 12 * kMiB, 2, 3, 7}};
  return device;
}

std::string first_line(const ExplainedDevice& device) {
  const std::string text = to_text(ExplainAnswer{.devices = {device}}, {});
  return text.substr(0, text.find("\n\n"));
}

TEST(ExplainAnswer, TheVerdictComesFirst) {
  EXPECT_EQ(first_line(device_of(Cause::fragmentation, 25 * kMiB)),
            "Fragmentation: the 25 MiB request would have fitted, with 5 MiB to spare.");
  EXPECT_EQ(
      first_line(device_of(Cause::outside, 35 * kMiB)),
      "Outside: the 35 MiB request would have fitted if others did not hold 10 MiB of the device.");
  EXPECT_EQ(first_line(device_of(Cause::shortage, 50 * kMiB)),
            "Shortage: live memory and the 50 MiB request together exceed the device by 20 MiB; no "
            "allocator\n"
            "setting will help.");
}

TEST(ExplainAnswer, WhatTheAllocatorAskedOfTheDeviceIsNoRequest) {
  ExplainedDevice device = device_of(Cause::fragmentation, 27 * kMiB);
  device.explanation.asked = 28 * kMiB;
  const std::string text = to_text(ExplainAnswer{.devices = {device}}, {});
  EXPECT_NE(text.find("the 27 MiB request would have fitted, with 3 MiB to spare."), text.npos);
  EXPECT_NE(
      text.find("  request          27 MiB    for it the allocator asked the device for 28 MiB\n"),
      text.npos);
  EXPECT_EQ(device.explanation.spare(), 3 * static_cast<std::int64_t>(kMiB));
}

TEST(ExplainAnswer, WhatGrowsFollowsTheVerdict) {
  ExplainedDevice device = device_of(Cause::shortage, 50 * kMiB);
  device.explanation.fails = true;
  device.trace.peak_requested = 60 * kMiB;
  Growth& growth = device.trace.growth.emplace();
  growth.place = "train.py:31 run";
  growth.since_step = 3;
  growth.first_event = 53;
  growth.places = 1;
  growth.per_step = growth.place_per_step = 6 * kMiB;
  growth.grown = 30 * kMiB;
  EXPECT_EQ(first_line(device),
            "Shortage: live memory and the 50 MiB request together exceed the device by 20 MiB; no "
            "allocator\n"
            "setting will help. Memory grows by 6 MiB a step: train.py:31 run, since step 3 (event "
            "53). No\n"
            "setting mends that: release it after each step.");
  growth.places = 2;
  growth.grown = kMiB / 2;  // less than a hundredth of what is live
  EXPECT_EQ(first_line(device).find("grows"), std::string::npos);
}

TEST(ExplainAnswer, AShortageInEffectNamesWhatNoSettingServes) {
  ExplainedDevice device = device_of(Cause::shortage, 25 * kMiB);
  device.explanation.in_effect = true;
  device.explanation.too_much = RequestInRoom{9, 70 * kMiB, 30 * kMiB, 90 * kMiB};
  EXPECT_EQ(verdict_sentence(device),
            "Shortage in effect: the 25 MiB request at event 7 would have fitted, with 5 MiB to "
            "spare, but at event 9, 70 MiB are live and 30 MiB more are requested, but the device "
            "has 90 MiB; no setting helps.");
  const nlohmann::json json = nlohmann::json::parse(to_json(ExplainAnswer{.devices = {device}}));
  EXPECT_EQ(json["verdict"], "shortage");
  EXPECT_EQ(json["in_effect"], true);
  EXPECT_EQ(json["too_much"]["event"], 9);
  EXPECT_EQ(json["advice"], nullptr);
}

TEST(ExplainAnswer, FindingsNameWhatWouldChangeThemMostBytesFirst) {
  const auto found = findings(device_of(Cause::fragmentation, 25 * kMiB));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].bytes, 12 * kMiB);
  EXPECT_NE(found[0].remedy.find("model.py:41 forward"), std::string::npos);
  EXPECT_EQ(found[1].bytes, 10 * kMiB);  // held by others
  EXPECT_EQ(found[2].bytes, 8 * kMiB);   // in a private pool
}

TEST(ExplainAnswer, BesideAFragmentationStandsWhatToDoInTheProgram) {
  ExplainedDevice device = device_of(Cause::fragmentation, 25 * kMiB);
  device.explanation.reserved = 80 * kGiB;  // pins of little weight stand there too
  const std::string text = to_text(ExplainAnswer{.devices = {device}}, {.width = 1000});
  EXPECT_NE(text.find("12 MiB free inside segments, kept from being returned by live blocks beside "
                      "it. To fix: free the blocks from model.py:41 forward before the refused "
                      "request, or make that request before them."),
            std::string::npos)
      << text;
}

TEST(ExplainAnswer, ALimitNamesWhatItLeavesTheAllocator) {
  ExplainedDevice device = device_of(Cause::limit, 25 * kMiB);
  device.explanation.allowed = 0;
  EXPECT_EQ(verdict_sentence(device),
            "Limit: the allocator's own limit or arena of 80 MiB refused the 25 MiB request; the "
            "device had 10 MiB free.");
}

TEST(ExplainAnswer, WithoutAFailureItSaysWhyFarMoreIsReservedThanLive) {
  ExplainedDevice device = device_of(Cause::none, 0);
  device.explanation.at_oom = false;
  device.explanation.unfitted = {{"net.py:9 large", 3, 60 * kMiB, 20 * kMiB, 30 * kMiB}};
  const auto found = findings(device);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].what,
            "60 MiB of the reserved peak came from 3 requests that fitted no hole, although enough "
            "was free in all: up to 20 MiB from net.py:9 large, beside up to 30 MiB free");
  const auto json = nlohmann::json::parse(to_json(ExplainAnswer{.devices = {device}}));
  EXPECT_EQ(json["unfitted"][0]["reserved_bytes"], 60 * kMiB);
}

TEST(ExplainAnswer, AnUnknownOwnerIsNotToldToFreeSooner) {
  ExplainedDevice device = device_of(Cause::fragmentation, 25 * kMiB);
  device.explanation.pins.by_place[0].place = kFromBefore;
  EXPECT_NE(findings(device)[0].remedy.find("record from the program's start"), std::string::npos);
}

TEST(ExplainAnswer, ATreeShowsTheLargestBranchesAndSumsUpTheRest) {
  ExplainedDevice device = device_of(Cause::fragmentation, 25 * kMiB);
  Explanation& e = device.explanation;
  e.rows = 2;
  const auto node = [](const char* place, Bytes bytes) { return CallNode{{place, bytes, 1}, {}}; };
  e.tree = {node("t.py:7 main", 59 * kMiB), node("small.py:1 f", 2 * kKiB)};
  (*e.tree)[0].calls = {node("a.py:1 f", 30 * kMiB), node("b.py:1 f", 20 * kMiB),
                        node("c.py:1 f", 9 * kMiB)};
  const std::string text = to_text(ExplainAnswer{.devices = {device}}, {});
  EXPECT_NE(text.find("  Live memory, below its callers   bytes  blocks\n"
                      "    t.py:7 main                   59 MiB       1\n"
                      "      a.py:1 f                    30 MiB       1\n"
                      "      b.py:1 f                    20 MiB       1\n"
                      "      … and 1 more                 9 MiB       1\n"
                      "    … and 1 more                   2 KiB       1\n"),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(to_json(ExplainAnswer{.devices = {device}}));
  EXPECT_EQ(json["by"], "place");
  EXPECT_EQ(json["tree"][0]["calls"][2]["bytes"], 9 * kMiB);
}

TEST(ExplainAnswer, WithoutATreeTheKeyIsNull) {
  const ExplainAnswer answer{.devices = {device_of(Cause::fragmentation, 25 * kMiB)}};
  EXPECT_TRUE(nlohmann::json::parse(to_json(answer))["tree"].is_null());
}

TEST(ExplainAnswer, OfAShortageNoSettingIsNamed) {
  for (const Finding& finding : findings(device_of(Cause::shortage, 50 * kMiB))) {
    EXPECT_EQ(finding.remedy.find("expandable_segments"), std::string::npos);
  }
}

// A peak that a setting would lower to 60 MiB, of a recording that starts late.
ExplainedDevice advised(LateVerdict::Kind kind) {
  ExplainedDevice device = device_of(Cause::fragmentation, 0);
  device.explanation.at_oom = false;
  const auto reserving = [](Bytes reserved) {
    TuneOutcome outcome{.settings = {Setting{}}, .runs = {Run{}}};
    outcome.runs[0].metrics.peak_reserved = reserved;
    return outcome;
  };
  device.tuned.emplace();
  device.tuned->baseline = "recorded";
  device.tuned->baseline_outcome = reserving(80 * kMiB);
  device.tuned->outcomes = {reserving(60 * kMiB)};
  device.tuned->helps = kind == LateVerdict::Kind::supported;
  device.late = {.kind = kind,
                 .best = {50 * kMiB, 75 * kMiB},
                 .baseline = {80 * kMiB, 80 * kMiB},
                 .setting = "expandable_segments:True"};
  return device;
}

TEST(ExplainAnswer, AdviceOfALateRecordingHasItsInterval) {
  EXPECT_EQ(advice(advised(LateVerdict::Kind::supported)),
            "Throughout, expandable_segments:True reserves 50 MiB to 75 MiB, recorded 80 MiB: the "
            "ranges do not overlap. Try:\n"
            "memreplay tune oom.pickle");
}

TEST(ExplainAnswer, WhereALateRecordingDoesNotSettleItTheLikeliestIsNamed) {
  EXPECT_TRUE(advice(advised(LateVerdict::Kind::undecided))
                  .starts_with("expandable_segments:True probably reserves "));
  EXPECT_EQ(advice(advised(LateVerdict::Kind::nothing_better)), "");
}

ExplainedDevice without_addresses() {
  ExplainedDevice device = device_of(Cause::address_space, 5 * kMiB);
  device.explanation.addresses = {.reservations = 1456,
                                  .streams = 728,
                                  .reserved = 1456 * 90 * kGiB,
                                  .needed = 90 * kGiB,
                                  .limit = 128 * kTiB};
  return device;
}

TEST(ExplainAnswer, WhereAddressesLackTheyAreCounted) {
  const ExplainedDevice device = without_addresses();
  EXPECT_EQ(verdict_sentence(device),
            "Address space: memory was free for the 5 MiB request, but 90 GiB of addresses are "
            "needed for another expandable segment, and 1,456 segments of 728 streams already take "
            "128 TiB of 128 TiB.");
  EXPECT_NE(findings(device)[0].remedy.find("expandable_segments:False"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(ExplainAnswer{.devices = {device}}));
  EXPECT_EQ(json["verdict"], "address-space");
  EXPECT_EQ(json["address_space"]["reservations"], 1456);
  EXPECT_EQ(json["address_space"]["needed_bytes"], 90 * kGiB);
}

TEST(ExplainAnswer, ARequestLongerThanItsReservationIsSaidToBe) {
  ExplainedDevice device = without_addresses();
  device.explanation.addresses->too_short = true;
  device.explanation.addresses->needed = 4 * kMiB;
  EXPECT_TRUE(verdict_sentence(device).starts_with(
      "Address space: the 5 MiB request is larger than the 4 MiB of addresses that "));
}

// The setting whose memory is looked at is refused what the default is not.
TEST(ExplainAnswer, ASettingThatServesTheRequestIsNamedAlsoWhereTheDefaultDoes) {
  ExplainedDevice device = advised(LateVerdict::Kind::not_late);
  device.explanation.at_oom = true;
  device.tuned->outcomes.front().runs[0].exact = true;
  EXPECT_TRUE(advice(device).starts_with("the default setting serves every request"))
      << advice(device);
}

TEST(ExplainAnswer, TheJsonHasVerdictAndEvent) {
  ExplainedDevice device = device_of(Cause::outside, 35 * kMiB);
  const auto json = nlohmann::json::parse(to_json(ExplainAnswer{.devices = {device}}));
  EXPECT_EQ(json["command"], "explain");
  EXPECT_EQ(json["verdict"], "outside");
  EXPECT_EQ(json["event"], 7);
  EXPECT_EQ(json["pools"][1]["pool"], "(0, 1)");
  EXPECT_EQ(json["pins"][0]["pinned_bytes"], 12 * kMiB);
}

}  // namespace
}  // namespace memreplay
