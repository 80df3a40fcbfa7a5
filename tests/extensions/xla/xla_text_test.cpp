#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"
#include "trace/stated_buffer.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

constexpr std::string_view kRanges =
    "HloLiveRange (max 9):\n  InstructionSequence:\n    0:a\n    1:b\n  BufferLiveRange:\n"
    "    a{}:0-2\n    b{}:2-4\n    c{}:3-4\n    d{1}:4-5\n    other{}:0-9\n"
    "  Live ranges at 2 (peak):\n    a{}: 100 bytes (cumulative: 100 bytes)\n";
constexpr std::string_view kAssignment =
    "BufferAssignment:\nallocation 0: size 9, page 0, parameter 0:\n"
    " value: <9 other @0> (size=9,offset=0): f32[]\n"
    "allocation 1: size 300, page 0, preallocated-temp:\n"
    " value: <1 a @0> (size=100,offset=0): f32[25]{0}\n"
    " value: <2 b @0> (size=100,offset=0): f32[25]{0}\n"
    " value: <3 c @0> (size=60,offset=128): f32[15]{0}\n"
    " value: <4 d{1} @0> (size=50,offset=192): f32[12]{0}\n\nTotal bytes used: 309\n";

/// The two texts as files beside one another.
class XlaTextReader : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(XlaTextReader, ValuesThatMeetInOnePlaceAreOne) {
  const std::string path = write("m-live-range.txt", kRanges);
  write("m-buffer-assignment.txt", kAssignment);
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.format, "xla-text");
  EXPECT_EQ(drawn_events(recording.traces.at(0)), "a0:100 a1:60 a2:50 f0:100 f1:60 f2:50");
  EXPECT_EQ(recording.traces[0].stated.planned, 300u);
  const auto stated = stated_buffers(path, {});
  ASSERT_EQ(stated.size(), 3u);
  EXPECT_EQ(stated[0].lower, 0);
  EXPECT_EQ(stated[0].upper, 5);
  EXPECT_EQ(stated[2].planned, 192u);
}

TEST_F(XlaTextReader, TheAssignmentMayBeNamed) {
  const std::string path = write("ranges.txt", kRanges);
  const std::string assignment = write("assigned.txt", kAssignment);
  EXPECT_EQ(read_recording(path, {.buffer_assignment = assignment}).traces.at(0).size(), 6u);
  EXPECT_THROW(read_recording(path), InputError);
}

TEST_F(XlaTextReader, OfLoopsTheTotalAloneIsRead) {
  const std::string path = write("m-live-range.txt", kRanges);
  std::string looped(kAssignment);
  looped.insert(looped.find(" value: <4"),
                " value: <5 while{1} (phi) @0> (size=4,offset=0): s32\n");
  write("m-buffer-assignment.txt", looped);
  const Recording recording = read_recording(path);
  EXPECT_EQ(recording.traces.at(0).size(), 0u);
  EXPECT_EQ(recording.traces[0].stated.planned, 300u);
  EXPECT_THAT(recording.lacks.front(), HasSubstr("what loops carry"));
  EXPECT_TRUE(stated_buffers(path, {}).empty());
}

TEST_F(XlaTextReader, WhatIsWrongIsToldByItsLine) {
  const std::string path = write("m-live-range.txt", std::string(kRanges) + "\n");
  write("m-buffer-assignment.txt", "allocation 1: size x, page 0, preallocated-temp:\n");
  try {
    read_recording(path);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("m-buffer-assignment.txt:1: "));
  }
}

}  // namespace
}  // namespace memreplay
