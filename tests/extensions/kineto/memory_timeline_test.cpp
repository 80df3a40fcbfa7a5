#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/input.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

Recording read(const std::string& text) { return read_recording("timeline", text, {}); }

TEST(TorchTimelineReader, ThePeakIsShownByCategory) {
  const Recording recording = read(
      "[[1690000000000000, 1690000000500000], [[0, 4096, 0, 0, 0, 0, 0, 0, 0], "
      "[0, 4096, 1024, 0, 0, 8192, 0, 0, 512]]]");
  EXPECT_EQ(recording.format, "torch-timeline");
  EXPECT_TRUE(recording.traces.empty());
  EXPECT_EQ(recording.detail,
            "PyTorch's memory timeline, 2 times in 0.5 s, at most 13.5 KiB: activations 8 KiB, "
            "parameters 4 KiB, optimizer state 1 KiB, unknown category 512 B");
  EXPECT_THAT(recording.why_no_trace, HasSubstr("bytes by category over time and no blocks"));
}

// A file that is named .raw.json.gz has every change, also those before the first time.
TEST(TorchTimelineReader, ChangesComeToWhatTheListsByCategoryShow) {
  EXPECT_EQ(read("[[-1, 1, 4096, 0], [1690000000000000000, 2, 8192, 4], "
                 "[1690000000250000000, 3, -8192, 4], [1690000000250000000, 3, 8192, 3], "
                 "[1690000000500000000, 4, -8192, 3]]")
                .detail,
            "PyTorch's memory timeline, 4 times in 0.5 s, at most 12 KiB: activations 8 KiB, "
            "parameters 4 KiB");
  EXPECT_EQ(read("[[1690000000000000000, 2, 64, 7]]").detail,
            "PyTorch's memory timeline, 1 time in 0 s, at most 64 B: unknown category 64 B");
}

TEST(TorchTimelineReader, OneWithoutChangesIsNamed) {
  EXPECT_EQ(read("[[], []]").detail, "PyTorch's memory timeline without a change");
}

TEST(TorchTimelineReader, APictureIsNamedAndSaysWhereNumbersAre) {
  const Recording recording = read(
      "<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title></head>\n"
      "<body>\n  <img src='data:image/png;base64,iVBOR'>\n</body>\n</html>");
  EXPECT_THAT(recording.why_no_trace, HasSubstr("a name that ends in .json has those"));
  EXPECT_THAT(named_content("t.html", "<html>\n<head><title>Other</title></head>"),
              HasSubstr("web page"));
}

TEST(TorchTimelineReader, WhatIsNoTimelineIsRefusedByItsPlace) {
  for (const char* text :
       {"[[1690000000000000], [[0, 1, 2]]]",                           // a short row
        "[[1690000000000000], []]",                                    // fewer rows than times
        "[[1690000000000000], [[0, 1, 0, 0, 0, 0, 0, 0, 0]], [1]]",    // a third list
        "[[1690000000000000, [1]], [[0, 1, 0, 0, 0, 0, 0, 0, 0]]]",    // a list among times
        "[[1690000000000000], [[0, [1], 0, 0, 0, 0, 0, 0, 0]]]",       // a list in a row
        "[[1690000000000000], [[0, 1.5, 0, 0, 0, 0, 0, 0, 0]]]",       //
        "[[1690000000000000], [[0, -1, 0, 0, 0, 0, 0, 0, 0]]]",        //
        "[[1690000000000000, 2, 8], [1690000000000000, 2, 8, 0]]",     // a short change
        "[[1690000000000000, 2, 8, 8], [1690000000000000, 2, 8, 0]]",  // a ninth category
        "[[1690000000000000, 2, 1152921504606846976, 0]]",             // 1 EiB
        "[[1690000000000000], {\"a\": 1}]", "[[1690000000000000], [null]]"}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("timeline: ")) << text;
    }
  }
}

}  // namespace
}  // namespace memreplay
