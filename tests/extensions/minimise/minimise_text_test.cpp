#include <gtest/gtest.h>

#include "questions/convert/minimised.hpp"

namespace memreplay {
namespace {

MinimiseAnswer small() {
  MinimiseAnswer answer{.events_before = 100,
                        .events = 3,
                        .replays = 12,
                        .shown_by = "torch",
                        .arguments = {"-s", "torch", "--capacity", "8MiB"}};
  answer.before.peak_reserved = answer.after.peak_reserved = 6 * kMiB;
  answer.before.peak_allocated = answer.after.peak_allocated = 4 * kMiB;
  return answer;
}

TEST(MinimiseText, SaysWhatIsKeptAndHowToSeeIt) {
  EXPECT_EQ(to_text(small(), "small.csv"),
            "100 events become 3: torch reserves 6 MiB and allocates 4 MiB (6 MiB and 4 MiB "
            "before). 12 replays\n"
            "made.\n"
            "memreplay replay small.csv -s torch --capacity 8MiB\n");
}

TEST(MinimiseText, TheCommandIsAsAShellTakesIt) {
  MinimiseAnswer answer = small();
  answer.arguments = {"-s", "binning:sizes=[1,2]"};
  const std::string text = to_text(answer, "it's small.csv");
  EXPECT_TRUE(text.ends_with("\nmemreplay replay 'it'\\''s small.csv' -s 'binning:sizes=[1,2]'\n"))
      << text;
  EXPECT_TRUE(to_text(small(), "-").find("memreplay replay OUT.csv -s") != std::string::npos);
}

TEST(MinimiseText, WhatIsLeftOutAndWhatWasNotFinishedIsSaid) {
  MinimiseAnswer answer = small();
  answer.finished = false;
  answer.pool_ends = 1;
  const std::string text = to_text(answer, "small.csv");
  EXPECT_NE(text.find("The search was ended early"), std::string::npos) << text;
  EXPECT_NE(text.find("Left out: 1 end of private pools"), std::string::npos) << text;
}

}  // namespace
}  // namespace memreplay
