#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/beginnings.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using Ids = std::vector<std::uint64_t>;

const std::string kGolden =
    "id,lower,upper,size,alignment,gaps\n"
    "w0,0,40,4096,256,\n"
    "a1,3,17,1536,256,8-12\n"
    "a2,5,30,2000,1,6-9@0:512\n";

Trace read(std::string_view text) {
  return minimalloc_reader().read({"log", text}, {}).traces.at(0);
}

std::string refused(std::string_view text) { return refusal(minimalloc_reader(), text); }

TEST(MinimallocReader, LifetimesBecomeEventsInTheOrderOfTime) {
  const Recording recording = minimalloc_reader().read({"log", kGolden}, {});
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::allocate, Op::allocate, Op::free,
                                        Op::free, Op::free}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{4096, 1536, 2000, 1536, 2000, 4096}));
  EXPECT_EQ(trace.ids, (Ids{0, 1, 2, 1, 2, 0}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, 1, 2, 1, 2, 0}));
  EXPECT_EQ(trace.align_log2, (std::vector<std::uint8_t>{8, 8, 0, 0, 0, 0}));
  EXPECT_EQ(recording.texts.at(trace.tags.at(1)), "a1");
  EXPECT_EQ(trace.coverage.dropped.at("gaps in which a buffer is not in use"), 2u);
}

TEST(MinimallocReader, ABufferMayTakeThePlaceOfOneThatEnds) {
  const Trace trace = read("id,lower,upper,size\n7,3,9,4\n8,0,3,5\n");
  EXPECT_EQ(trace.ids, (Ids{8, 8, 7, 7}));
  EXPECT_EQ(trace.slot_count, 1u);
  EXPECT_TRUE(trace.tags.empty());
}

TEST(MinimallocReader, AnEndIsTheLastTimeItself) {
  EXPECT_EQ(read("id,lower,end,size\n7,3,9,4\n8,0,3,5\n").ids, (Ids{8, 7, 8, 7}));
  EXPECT_EQ(read("id,lower,end,size\n7,3,3,4\n").size(), 2u);
}

TEST(MinimallocReader, NumbersAreIdsAndOneNameAmongThemMakesAllOfThemTexts) {
  EXPECT_EQ(read("id,lower,upper,size\n7,0,9,5\n007,1,8,5\n").ids, (Ids{7, 7, 7, 7}));
  const Recording named =
      minimalloc_reader().read({"log", "id,lower,upper,size\n7,0,9,5\nw,1,8,5\n"}, {});
  EXPECT_EQ(named.traces.at(0).ids, (Ids{0, 1, 1, 0}));
  EXPECT_EQ(named.texts, (std::vector<std::string>{"", "7", "w"}));
  EXPECT_THAT(refused("id,lower,upper,size\n7,0,9,5\n7,1,8,5\n"), HasSubstr("no row before has"));
  EXPECT_THAT(refused("id,lower,upper,size\nw,0,9,5\nw,1,8,5\n"), HasSubstr("no row before has"));
}

TEST(MinimallocReader, ColumnsComeInAnyOrderAndByOtherNames) {
  EXPECT_EQ(read("size,hint,upper,begin,buffer_id\n4,-1,9,3,7\n5,-1,3,0,8\n"),
            read("id,lower,upper,size\n7,3,9,4\n8,0,3,5\n"));
}

TEST(MinimallocReader, AColumnThatIsLeftOutIsSaid) {
  std::vector<std::string> notes;
  minimalloc_reader().read({"log", "id,lower,upper,size,hint\n7,3,9,4,0\n"},
                           {.note = [&](const std::string& note) { notes.push_back(note); }});
  EXPECT_EQ(notes, (std::vector<std::string>{"log: column 'hint' is left out"}));
}

TEST(MinimallocReader, ByteOrderMarkCarriageReturnsAndAMissingLastNewlineAreFine) {
  EXPECT_EQ(read("\xEF\xBB\xBFid,lower,upper,size\r\n7,3,9,4\r\n8,0,3,5"),
            read("id,lower,upper,size\n7,3,9,4\n8,0,3,5\n\n"));
}

TEST(MinimallocReader, WhatIsNeverLiveIsCounted) {
  const Trace trace = read("id,lower,upper,size\n0,3,3,4\n1,0,3,0\n2,-5,9,1\n");
  EXPECT_EQ(trace.ids, (Ids{2, 2}));
  EXPECT_EQ(trace.coverage.dropped.at("buffers that are never live"), 1u);
  EXPECT_EQ(trace.coverage.dropped.at("buffers of size 0"), 1u);
}

TEST(MinimallocReader, WhatIsNoLifetimeIsRefusedByItsPlace) {
  const std::string header = "id,lower,upper,size,alignment,gaps\n";
  EXPECT_THAT(refused(header + "a,0,9223372036854775808,1,1,\n"), HasSubstr("log:2:5: upper is"));
  EXPECT_THAT(refused(header + "a,0,1,-1,1,\n"), HasSubstr("log:2:7: size is '-1'; expected"));
  EXPECT_THAT(refused(header + "a,0,1,9223372036854775808,1,\n"), HasSubstr("below 2^63"));
  EXPECT_THAT(refused(header + "a,5,1,1,1,\n"), HasSubstr("not before the beginning"));
  EXPECT_THAT(refused(header + "a,0,1,1,3,\n"), HasSubstr("expected a power of two"));
  EXPECT_THAT(refused(header + "a,0,1,1,1,4\n"), HasSubstr("expected gaps as FROM-TO"));
  EXPECT_THAT(refused(header + "a,0,1,1,1,\na,0,1,1,1,\n"), HasSubstr("no row before has"));
  EXPECT_THAT(refused(header + "a,0,1,1\n"), HasSubstr("log:2: 4 fields; expected 6"));
  EXPECT_THAT(refused(header + "a,0,1,1,1,\n\nb,0,1,1,1,\n"), HasSubstr("log:4: an empty line"));
  EXPECT_THAT(refused("id,lower,upper,end,size\n"), HasSubstr("expected id, lower, upper (or"));
  EXPECT_THAT(refused("id,id,lower,upper,size\n"), HasSubstr("a second column 'id'"));
  EXPECT_THAT(refused("id,lower,end,size\na,0,9223372036854775807,1\n"), HasSubstr("below 2^63"));
}

TEST(MinimallocReader, ATextThatIsCutAnywhereIsReadOrRefusedByItsLine) {
  expect_any_beginning(minimalloc_reader(), kGolden);
}

/// What is read, or why it is refused.
std::string outcome(const std::string& text, Recording& recording) {
  try {
    recording = minimalloc_reader().read({"log", text}, {});
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

// Rows of plain numbers that end in a line feed are read by a way of their own.
TEST(MinimallocReader, PlainRowsAreReadAsTheOthers) {
  const std::vector<std::string> words = {"0",        "1",         "2",  "3",
                                          "12345678", "987654321", "12", "007",
                                          "-1",       "1.5",       "w",  "9223372036854775807",
                                          "",         "\"4\"",     " 5", "9223372036854775808"};
  std::mt19937 draw(2);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string plain = i % 2 == 0 ? "id,lower,upper,size\n" : "size,end,id,lower\n";
    const std::size_t rows = 1 + draw() % 4;
    const bool odd = draw() % 2 == 0;
    for (std::size_t row = 0; row < rows; ++row) {
      for (int field = 0; field < 4; ++field) {
        plain += field == 0 ? "" : ",";
        plain += words[draw() % (odd ? words.size() : 7)];
      }
      plain += odd && draw() % 20 == 0 ? "\n\n" : "\n";
    }
    std::string other;
    for (const char c : plain) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
    Recording recording;
    Recording expected;
    const std::string error = outcome(plain, recording);
    EXPECT_EQ(error, outcome(other, expected)) << plain;
    EXPECT_EQ(recording, expected) << plain;
    whole += error.empty();
  }
  EXPECT_GT(whole, 2'000);
}

}  // namespace
}  // namespace memreplay
