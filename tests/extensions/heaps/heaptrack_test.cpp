#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/beginnings.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using Ops = std::vector<Op>;
using Sizes = std::vector<Bytes>;
using Names = std::vector<std::string>;

const std::string kRaw =
    "v 10500 3\n"
    "I 1000 3f5a2\n"
    "t 4011d0 0\n"
    "t 401250 1\n"
    "+ 80 2 7f10a0\n"
    "c 0a\n"
    "- 7f10a0\n";

const std::string kInterpreted =
    "v 10500 3\n"
    "X ./program\n"
    "s 4 main\n"
    "s 8 main.cpp\n"
    "s 9 libc.so.6\n"
    "s 4 grow\n"
    "i 401000 3 1 2 20 4 2 21\n"
    "t 1 0\n"
    "i 402000 3\n"
    "t 2 1\n"
    "a 10 1\n"
    "+ 0\n"
    "a 20 2\n"
    "+ 1\n"
    "+ 0\n"
    "c 5\n"
    "- 0\n"
    "- 1\n"
    "- 0\n"
    "# the end\n";

Recording read(const std::string& text) { return heaptrack_reader().read({"log", text}, {}); }

Trace trace_of(const std::string& text) { return read(text).traces.at(0); }

std::string refused(std::string_view text) { return refusal(heaptrack_reader(), text); }

Names stack_at(const Recording& recording, std::size_t event) {
  Names names;
  for (const std::uint32_t frame : recording.stacks.at(recording.traces.at(0).stacks.at(event))) {
    const Frame& place = recording.frames.at(frame);
    names.push_back(recording.texts.at(place.name) + " " + recording.texts.at(place.file) +
                    (place.line == kNoLine ? "" : ":" + std::to_string(place.line)));
  }
  return names;
}

TEST(HeaptrackReader, ARawFileNamesBlocksByTheirAddresses) {
  const Recording recording = read(kRaw);
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free}));
  EXPECT_EQ(trace.sizes, (Sizes{0x80, 0x80}));
  EXPECT_EQ(trace.ids, (std::vector<std::uint64_t>{0x7f10a0, 0x7f10a0}));
  EXPECT_EQ(trace.times_us, (std::vector<std::int64_t>{0, 10000}));
  EXPECT_EQ(stack_at(recording, 0), (Names{"0x401250 ", "0x4011d0 "}));
  EXPECT_EQ(stack_at(recording, 1), Names{});
  EXPECT_EQ(recording.detail, "heaptrack recording");
}

TEST(HeaptrackReader, OfLikeBlocksOfAnInterpretedFileTheOldestIsFreedFirst) {
  const Recording recording = read(kInterpreted);
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops,
            (Ops{Op::allocate, Op::allocate, Op::allocate, Op::free, Op::free, Op::free}));
  EXPECT_EQ(trace.sizes, (Sizes{16, 32, 16, 16, 32, 16}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(trace.times_us, (std::vector<std::int64_t>{0, 0, 0, 5000, 5000, 5000}));
  EXPECT_EQ(recording.lacks.back(), "which of several equal blocks a free is for (1)");
  EXPECT_TRUE(trace.coverage.gapless);
  EXPECT_FALSE(trace.coverage.complete);
  EXPECT_THAT(recording.detail, HasSubstr("the oldest is freed first"));
}

TEST(HeaptrackReader, AStackBeginsWithTheInnermostFrame) {
  const Recording recording = read(kInterpreted);
  EXPECT_EQ(stack_at(recording, 1),
            (Names{"0x402000 libc.so.6", "main main.cpp:32", "grow main.cpp:33"}));
  EXPECT_EQ(stack_at(recording, 0), (Names{"main main.cpp:32", "grow main.cpp:33"}));
}

TEST(HeaptrackReader, TextsOfOldFormatsHaveNoLength) {
  const Recording recording = read("v 10000 2\ns a b\ni 1 0 1\nt 1 0\na 8 1\n+ 0\n");
  EXPECT_EQ(stack_at(recording, 0), (Names{"a b "}));
}

TEST(HeaptrackReader, WhatIsLackingOrMeansNothingIsCounted) {
  const Trace trace = trace_of("v 1 3\nA\n- a0\n+ 0 0 b0\n- b0\n+ 8 0 c0\n+ 9 0 c0\n");
  EXPECT_EQ(trace.sizes, (Sizes{8, 8, 9}));
  EXPECT_EQ(trace.stacks.size(), 3u);
  EXPECT_EQ(trace.times_us.size(), 3u);
  const std::map<std::string, std::uint64_t> dropped = {
      {"allocations of size 0", 1},
      {"blocks from before heaptrack was attached", 1},
      {"frees of blocks of size 0", 1},
      {"frees of blocks that the log does not allocate", 1}};
  EXPECT_EQ(trace.coverage.dropped, dropped);
  EXPECT_EQ(trace.coverage.synthesised.at("frees missing in the log"), 1u);
  EXPECT_FALSE(trace.coverage.gapless);
}

TEST(HeaptrackReader, AFreeOfAKindThatHasNoBlockIsCounted) {
  const Trace trace = trace_of("v 1 3\na 8 0\n- 0\n+ 0\n- 0\n");
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free}));
  EXPECT_EQ(trace.coverage.dropped.at("frees of blocks that the log does not allocate"), 1u);
}

TEST(HeaptrackReader, ByteOrderMarkCarriageReturnsAndAMissingLastNewlineAreFine) {
  std::string text = "\xEF\xBB\xBF" + kRaw;
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
    text.insert(at, 1, '\r');
  }
  EXPECT_EQ(trace_of(text), trace_of(kRaw));
  EXPECT_EQ(trace_of(text.substr(0, text.size() - 2)), trace_of(kRaw));
}

TEST(HeaptrackReader, WhatMakesNoSenseIsRefusedByItsLine) {
  const std::string begin = "v 1 3\n";
  EXPECT_THAT(refused(begin + "+ -1 0 a\n"), HasSubstr("log:2: a number is '-1'; expected"));
  EXPECT_THAT(refused(begin + "+ 8000000000000000 0 a\n"), HasSubstr("log:2: a size is"));
  EXPECT_THAT(refused(begin + "+ 10000000000000000 0 a\n"), HasSubstr("of 64 bits"));
  EXPECT_THAT(refused(begin + "+ 8 1 a\n"), HasSubstr("log:2: a call that no line before"));
  EXPECT_THAT(refused(begin + "+ 0\n"), HasSubstr("expected one that a line before describes"));
  EXPECT_THAT(refused(begin + "t 1\n"), HasSubstr("log:2: a line is 't 1'; expected more"));
  EXPECT_THAT(refused(begin + "t 1 5\n"), HasSubstr("a caller that no line before names"));
  EXPECT_THAT(refused(begin + "i 1 5\n"), HasSubstr("a text that no line before names"));
  EXPECT_THAT(refused(begin + "s 1 a\nt 5 0\n"), HasSubstr("an instruction that no line"));
  EXPECT_THAT(refused(begin + "q 1\n"), HasSubstr("log:2: a line is 'q 1'; expected one that"));
  EXPECT_THAT(refused(begin + "c ffffffffffffffff\n"), HasSubstr("expected milliseconds"));
  EXPECT_THAT(refused("v 1 4\n"), HasSubstr("expected a format of 3 or below"));
}

TEST(HeaptrackReader, ATextThatIsCutAnywhereIsReadOrRefusedByItsLine) {
  expect_any_beginning(heaptrack_reader(), kRaw);
  expect_any_beginning(heaptrack_reader(), kInterpreted);
}

/// What is read, or why it is refused.
std::string outcome(const std::string& text, Recording& recording) {
  try {
    recording = heaptrack_reader().read({"log", text}, {});
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

// Short lines of an interpreted file that end in a line feed are read by a way of their own.
TEST(HeaptrackReader, ShortLinesAreReadAsTheOthers) {
  std::mt19937 draw(2);
  int whole = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string text = "v 10500 3\ns 4 main\ni 4011c0 1 1\nt 1 0\nt 1 1\n";
    std::size_t kinds = 0;
    for (int line = 0; line < 60; ++line) {
      const auto next = draw() % 40;
      if (kinds == 0 || next == 0) {
        text += fmt::format("a {:x} {:x}\n", draw() % 4 * 512, draw() % 3);
        ++kinds;
      } else if (next == 1) {
        text += fmt::format("c {:x}\n", line);
      } else if (next == 2) {
        text += fmt::format("{} {:X}\n", "+-"[draw() % 2], draw() % (draw() % 8 == 0 ? 99 : kinds));
      } else {
        const char* const zeros = draw() % 50 == 0 ? "000000" : draw() % 20 == 0 ? "0" : "";
        text += fmt::format("{} {}{:x}\n", "+-"[draw() % 3 == 0], zeros, draw() % kinds);
      }
    }
    std::string other;
    for (const char c : text) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
    Recording recording;
    Recording expected;
    const std::string error = outcome(text, recording);
    EXPECT_EQ(error, outcome(other, expected)) << text;
    EXPECT_EQ(recording, expected) << text;
    whole += error.empty();
  }
  EXPECT_GT(whole, 1'000);
}

}  // namespace
}  // namespace memreplay
