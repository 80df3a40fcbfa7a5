#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"
#include "trace/readers.hpp"
#include "trace/stated_buffer.hpp"
#include "trace/xla_bytes.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

Recording read(const std::string& bytes) { return read_recording("a.hlo.pb", bytes, {}); }

std::string refused(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// "odd 100 [0,4) at 64, 2-3", one a place.
std::string places(const std::string& bytes) {
  std::string drawn;
  for (const StatedBuffer& place : xla_hlo_reader().stated({"a.hlo.pb", bytes}, {})) {
    drawn += (drawn.empty() ? "" : "; ") + place.name + " " + std::to_string(place.size) + " [" +
             std::to_string(place.lower) + "," + std::to_string(place.upper) + ") at " +
             std::to_string(place.planned.value_or(9));
    for (const StatedBuffer::Gap& gap : place.gaps) {
      drawn += ", " + std::to_string(gap.from) + "-" + std::to_string(gap.to);
    }
  }
  return drawn;
}

TEST(XlaHloReader, AValueLivesFromItsAllocationToItsFree) {
  const std::string bytes =
      xla_module({{1, 100, 0}, {2, 50, 128}}, {{'a', 1}, {'a', 2}, {'f', 1}, {'f', 2}}, 192);
  EXPECT_EQ(places(bytes), "odd 100 [0,2) at 0; even 50 [1,3) at 128");
  const Recording recording = read(bytes);
  EXPECT_EQ(drawn_events(recording.traces.at(0)), "a0:100 a1:50 f0:100 f1:50");
  EXPECT_EQ(recording.traces[0].stated.planned, 192u);
  EXPECT_THAT(recording.detail, HasSubstr("jit_f"));
}

// The operand is freed before the result takes its place.
TEST(XlaHloReader, APlaceThatIsTakenOverAtOnceWasNeverFree) {
  EXPECT_EQ(places(xla_module({{1, 100, 0}, {2, 100, 0}},
                              {{'a', 1}, {'f', 1}, {'s', 2, 1}, {'f', 2}}, 128)),
            "odd 100 [0,3) at 0");
}

TEST(XlaHloReader, APlaceThatIsTakenOverAfterOthersWereAllocatedHasAGap) {
  EXPECT_EQ(
      places(xla_module({{1, 100, 0}, {2, 100, 0}, {3, 60, 0}},
                        {{'a', 1}, {'f', 1}, {'a', 3}, {'f', 3}, {'s', 2, 1}, {'f', 2}}, 128)),
      "odd 100 [0,5) at 0, 1-4; odd#2 60 [2,3) at 0");
}

TEST(XlaHloReader, WhatLivesOutIsLiveToTheEnd) {
  EXPECT_EQ(places(xla_module({{1, 100, 0}, {3, 60, 128}}, {{'a', 1}, {'a', 3}, {'f', 1}}, 192)),
            "odd 100 [0,2) at 0; odd#2 60 [1,3) at 128");
}

TEST(XlaHloReader, TablesOfTuplesLieOutsideOfTheHeap) {
  const std::string bytes = xla_module({{9, 16, 0}, {1, 100, 64}}, {{'a', 1}, {'f', 1}}, 192);
  EXPECT_EQ(places(bytes), "odd 100 [0,1) at 0");
  EXPECT_THAT(read(bytes).lacks.front(), HasSubstr("16 B of its allocation outside of the heap"));
}

TEST(XlaHloReader, WhatContradictsItselfIsToldByItsPlace) {
  EXPECT_THAT(refused(xla_module({{1, 8, 0}}, {{'f', 1}}, 64)),
              HasSubstr("an event frees value 1"));
  EXPECT_THAT(refused(xla_module({{1, 8, 0}}, {{'a', 1}, {'a', 1}}, 64)),
              HasSubstr("an event allocates again value 1"));
  EXPECT_THAT(refused(xla_module({{1, 8, 0}}, {{'a', 2}}, 64)),
              HasSubstr("an event allocates value 2, which there is not"));
  EXPECT_THAT(refused(xla_module({{1, 8, 0}}, {{'s', 1, 7}}, 64)), HasSubstr("value 7"));
  EXPECT_THAT(refused(xla_module({{1, 8, 0}}, {{'a', 1}}, 64).substr(0, 60)), HasSubstr("byte "));
}

TEST(XlaHloReader, AModuleAloneSaysWhatIsExpected) {
  const std::string module = xla_module({}, {}, 0);
  EXPECT_THAT(refused(module.substr(0, 2 + static_cast<unsigned char>(module[1]))),
              HasSubstr("is an XLA module without an assignment of buffers"));
}

}  // namespace
}  // namespace memreplay
