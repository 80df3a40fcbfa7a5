#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "core/control.hpp"
#include "core/error.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explained.hpp"
#include "run/inputs.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

RoundedBytes mib(Bytes size, Bytes within = 0) { return {size << 20, within << 20}; }

ExplainedMessage judged(const OomMessage& message) { return explained(message); }

OomMessage message_of(const char* kind,
                      std::initializer_list<std::pair<Figure, RoundedBytes>> figures) {
  OomMessage message;
  message.kind = kind;
  for (const auto& [figure, size] : figures) message[figure] = size;
  return message;
}

OomMessage bfc(Bytes requested, Bytes live, Bytes pool, Bytes limit) {
  return message_of("bfc", {{Figure::requested, mib(requested)},
                            {Figure::limit, mib(limit)},
                            {Figure::live, mib(live)},
                            {Figure::reserved, mib(pool)},
                            {Figure::free_inside, mib(pool - live)}});
}

TEST(Messages, ABfcAllocatorIsShortOfMemoryWhereItsLimitIs) {
  OomMessage failure = bfc(10, 95, 100, 100);
  EXPECT_EQ(judged(failure).cause, Cause::shortage);
  EXPECT_EQ(judged(failure).room, -(5 << 20));
  EXPECT_TRUE(judged(failure).sure);
  failure[Figure::live_requested] = mib(94, 1);
  EXPECT_EQ(judged(failure).cause, Cause::shortage);
  EXPECT_TRUE(judged(failure).sure);
  EXPECT_EQ(judged(failure).room, -(4 << 20));  // as of a recording
}

TEST(Messages, HolesThatWouldDoTogetherAreFragmentation) {
  const ExplainedMessage holes = judged(bfc(10, 80, 100, 100));
  EXPECT_EQ(holes.cause, Cause::fragmentation);
  EXPECT_TRUE(holes.sure);
  EXPECT_EQ(judged(bfc(10, 80, 95, 100)).cause, Cause::fragmentation);
}

TEST(Messages, ALimitThatTheDeviceDoesNotReachIsTheFaultOfOthers) {
  EXPECT_EQ(judged(bfc(10, 20, 30, 100)).cause, Cause::outside);
}

TEST(Messages, WasteInsideOfChunksIsFragmentationToo) {
  OomMessage failure = bfc(10, 95, 100, 100);
  failure[Figure::live_requested] = mib(80, 1);
  EXPECT_EQ(judged(failure).cause, Cause::fragmentation);
  EXPECT_EQ(judged(failure).room, 10 << 20);
  failure[Figure::live_requested] = mib(90, 1);  // 5 MiB are missing, 5 are lost
  EXPECT_FALSE(judged(failure).sure);
  EXPECT_EQ(judged(failure).cause, Cause::shortage);
}

TEST(Messages, AReportThatIsCutOffSaysWhatItLacks) {
  OomMessage failure = bfc(10, 80, 100, 100);
  failure[Figure::requested].reset();
  EXPECT_EQ(judged(failure).cause, Cause::unknown);
  EXPECT_EQ(judged(failure).missing.size(), 1u);
  failure = bfc(10, 80, 100, 100);
  failure[Figure::limit].reset();
  EXPECT_EQ(judged(failure).cause, Cause::fragmentation);  // the holes would do, whatever it is
}

OomMessage torch(Bytes requested, Bytes live, Bytes reserved, Bytes free, Bytes device) {
  return message_of("torch", {{Figure::requested, mib(requested)},
                              {Figure::device, mib(device)},
                              {Figure::device_free, mib(free)},
                              {Figure::live, mib(live)},
                              {Figure::reserved, mib(reserved)},
                              {Figure::free_inside, mib(reserved - live)}});
}

TEST(Messages, PyTorchsFiguresTellFragmentationFromAShortageAndFromOthers) {
  EXPECT_EQ(judged(torch(100, 7'000, 7'900, 50, 8'200)).cause, Cause::fragmentation);
  EXPECT_EQ(judged(torch(1'000, 7'500, 7'900, 50, 8'200)).cause, Cause::shortage);
  const ExplainedMessage outside = judged(torch(1'000, 2'500, 2'900, 50, 8'200));
  EXPECT_EQ(outside.cause, Cause::outside);
  EXPECT_EQ(outside.others, Bytes{5'250} << 20);
  OomMessage limited = torch(1'000, 2'500, 2'600, 5'000, 8'200);
  limited[Figure::limit] = mib(3'000);
  EXPECT_EQ(judged(limited).cause, Cause::limit);
}

TEST(Messages, WhatTheDeviceHadFreeIsNotExplained) {
  const ExplainedMessage judgement = judged(torch(12, 8, 13, 9'000, 11'000));
  EXPECT_EQ(judgement.cause, Cause::unknown);
  EXPECT_FALSE(judgement.sure);
  EXPECT_TRUE(judgement.missing.empty());
}

TEST(Messages, MoreThanTheWholeDeviceIsAShortageWhateverElseIsMissing) {
  OomMessage failure =
      message_of("torch", {{Figure::requested, mib(9'000)}, {Figure::device, mib(8'000)}});
  EXPECT_EQ(judged(failure).cause, Cause::shortage);
  failure[Figure::requested] = mib(2'000);
  EXPECT_EQ(judged(failure).cause, Cause::unknown);
  failure[Figure::live] = mib(6'500);
  EXPECT_EQ(judged(failure).cause, Cause::shortage);
  EXPECT_TRUE(judged(failure).sure);
  EXPECT_TRUE(judged(failure).missing.empty());
}

TEST(Messages, MoreFreeThanTheDeviceHasIsAContradiction) {
  const ExplainedMessage judgement = judged(torch(12'000, 1'100, 1'500, 52'000, 8'192));
  EXPECT_TRUE(judgement.contradicts);
  EXPECT_EQ(judgement.cause, Cause::shortage);  // the request exceeds the device by either
  EXPECT_EQ(judged(torch(2'000, 1'100, 1'500, 52'000, 8'192)).cause, Cause::unknown);
  EXPECT_FALSE(judged(torch(2'000, 1'100, 1'500, 5'000, 8'192)).contradicts);
}

TEST(Messages, WhatAProcessDoesNotHoldOfItsReservedMemorySleeps) {
  OomMessage failure = torch(1'500, 84'000, 105'000, 1'100, 79'000);
  failure[Figure::process] = mib(78'000);
  EXPECT_EQ(judged(failure).asleep, Bytes{27'000} << 20);
  EXPECT_EQ(judged(failure).cause, Cause::unknown);
  EXPECT_FALSE(judged(failure).beyond_device);
  failure.platform = Platform::windows;  // there it is moved to the host
  EXPECT_FALSE(judged(failure).asleep);
  EXPECT_TRUE(judged(failure).beyond_device);
}

TEST(Messages, ProcessesThatHoldAsLittleEachAreContexts) {
  OomMessage failure = torch(1'200, 33'000, 33'500, 400, 39'000);
  failure[Figure::process] = mib(34'700);
  for (std::uint64_t id = 1; id < 5; ++id) failure.processes.push_back({id, mib(610 + id)});
  ASSERT_TRUE(judged(failure).contexts);
  EXPECT_EQ(judged(failure).contexts->count, 4u);
  failure.processes.resize(1);
  EXPECT_FALSE(judged(failure).contexts);
  failure.processes = {{1, mib(600)}, {2, mib(30'000)}};
  EXPECT_FALSE(judged(failure).contexts);
}

std::vector<ExplainedMessage> messages_of(const std::string& text) {
  InputOptions input{.paths = {"<log>"}};
  input.read.takes_texts = true;
  input.read.at_hand = [&](const std::string& path) {
    return std::optional(read_recording(path, text, {.takes_texts = true}));
  };
  return answer(Inputs(input), ExplainQuestion{}, {}).devices.at(0).messages;
}

TEST(Messages, ReportsInARowAreOneAndTellWhetherMemoryGrows) {
  const auto report = [](int live) {
    return "[Rank 0] memory (MB) | allocated: " + std::to_string(live) +
           ".0 | max allocated: 15110.0 | reserved: 18120.0 | max reserved: 18120.0\n";
  };
  std::string grows, varies, few;
  for (int i = 0; i < 20; ++i) {
    grows += report(9'000 + 110 * i);
    varies += report(9'000 + 7 * (i * 13 % 20));
  }
  for (int i = 0; i < 3; ++i) few += report(9'000 + i);
  std::vector<ExplainedMessage> messages = messages_of(grows);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].row->reports, 20u);
  EXPECT_EQ(messages[0].row->per_report, 110 << 20);
  EXPECT_EQ(messages[0].message[Figure::live]->bytes, Bytes{9'000 + 110 * 19} << 20);
  messages = messages_of(varies);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].row->per_report, 0);
  EXPECT_EQ(messages_of(few).size(), 3u);
}

TEST(Messages, StatisticsAloneAreNoFailure) {
  const std::vector<ExplainedMessage> messages =
      messages_of("Stats: \nLimit: 16.00GiB\nInUse: 14.25GiB\nMaxInUse: 15.75GiB\n");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].cause, Cause::none);
  EXPECT_EQ(messages[0].message[Figure::live]->bytes, Bytes{57} << 28);
}

TEST(Messages, RoundedFiguresThatAreTooNearMakeAVerdictUnsure) {
  OomMessage failure = torch(100, 7'000, 7'090, 20, 8'200);
  EXPECT_TRUE(judged(failure).sure);
  failure[Figure::live]->within = 11 << 20;
  EXPECT_FALSE(judged(failure).sure);
  EXPECT_EQ(judged(failure).cause, Cause::fragmentation);
}

constexpr std::string_view kMessage =
    "CUDA out of memory. Tried to allocate 760.00 MiB. GPU 0 has a total capacity of 5.10 GiB of "
    "which 690.00 MiB is free. Of the allocated memory 4.32 GiB is allocated by PyTorch, and "
    "115.79 "
    "MiB is reserved by PyTorch but unallocated.\n";

TEST(Messages, ATextIsExplainedInPlaceOfARecordingAndTakenForNoneElsewhere) {
  InputOptions input{.paths = {"<log>"}};
  input.read.takes_texts = true;
  input.read.at_hand = [&](const std::string& path) {
    return std::optional(read_recording(path, kMessage, {.takes_texts = true}));
  };
  const ExplainAnswer explained = answer(Inputs(input), ExplainQuestion{}, {});
  ASSERT_EQ(explained.devices.size(), 1u);
  EXPECT_EQ(explained.devices[0].explanation.cause, Cause::fragmentation);
  EXPECT_FALSE(explained.devices[0].explanation.event);
  EXPECT_TRUE(explained.devices[0].messages[0].sure);
  EXPECT_THROW(read_recording("<log>", kMessage, {}), InputError);
}

std::string report_of(const std::string& name) {
  const fs::path path = fs::path(MEMREPLAY_SHARED) / "corpus/bfc" / (name + ".first_oom_dump.txt");
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The first message with a verdict, else the first one.
ExplainedMessage judged_text(const std::string& text) {
  const auto messages = read_recording("<log>", text, {.takes_texts = true}).text->messages;
  for (const OomMessage& message : messages) {
    if (judged(message).cause != Cause::unknown) return judged(message);
  }
  return judged(messages.front());
}

/// Where the line that has `phrase` begins.
std::size_t line_of(const std::string& text, const char* phrase) {
  return text.rfind('\n', text.find(phrase)) + 1;
}

TEST(Messages, ReportsOfTheOriginalGiveTheirVerdictWithPrefixesAndCutAtEitherEnd) {
  if (!fs::exists(fs::path(MEMREPLAY_SHARED) / "corpus/bfc")) GTEST_SKIP() << "no reports here";
  const std::pair<const char*, Cause> known[] = {{"02_adversarial_5k", Cause::shortage},
                                                 {"09_edge_cases", Cause::outside},
                                                 {"15_oom_dump_small", Cause::fragmentation}};
  for (const auto& [name, cause] : known) {
    SCOPED_TRACE(name);
    const std::string text = report_of(name);
    const ExplainedMessage whole = judged_text(text);
    EXPECT_EQ(whole.cause, cause);
    EXPECT_EQ(whole.sure, cause != Cause::shortage);  // its figures are too round to tell

    const std::string prefix = "2024-01-02 03:04:05.1: I tsl/framework/bfc_allocator.cc:1101] ";
    const ExplainedMessage prefixed =
        judged_text(prefix + std::regex_replace(text, std::regex("\n"), "\n" + prefix));
    EXPECT_EQ(prefixed.cause, cause);
    EXPECT_EQ(prefixed.message, whole.message);

    // Without a limit, or without what was in use, only holes that would do are a verdict.
    const std::size_t limit_at = line_of(text, "memory_limit_: ");
    for (std::size_t from = 0; from < limit_at; from = text.find('\n', from) + 1) {
      EXPECT_EQ(judged_text(text.substr(from)).cause, cause) << text.substr(from, 60);
    }
    const std::size_t in_use_at = text.find('\n', text.find("\nInUse: ") + 1) + 1;
    for (std::size_t end = in_use_at; end != 0; end = text.find('\n', end) + 1) {
      EXPECT_EQ(judged_text(text.substr(0, end)).cause, cause) << text.substr(0, end);
    }
    const ExplainedMessage begun = judged_text(text.substr(0, text.find("Next region")));
    EXPECT_EQ(begun.cause, cause == Cause::fragmentation ? cause : Cause::unknown);
    EXPECT_FALSE(begun.sure && begun.cause == Cause::unknown);
  }
}

}  // namespace
}  // namespace memreplay
