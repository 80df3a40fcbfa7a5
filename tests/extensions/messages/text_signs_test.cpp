#include <gtest/gtest.h>

#include "extensions/messages/message_kind.hpp"

namespace memreplay {
namespace {

TEST(TextSigns, WhatFailedIsSeenInAnyCase) {
  for (const char* text :
       {"Traceback (most recent call last):", "ValueError: no", "ERROR: it", "Killed", "OOMKilled",
        "torch ran out of memory", "exit code 1", "exited with code 137", "exit status: 2",
        "Aborted (core dumped)", "RESOURCE_EXHAUSTED"}) {
    EXPECT_TRUE(shows_failure(text)) << text;
  }
}

TEST(TextSigns, WhatIsWellIsNoFailure) {
  for (const char* text :
       {"exit code 0", "exited with code 0", "exit status: 0", "room for more", "all is well", "",
        "ran out of memory trying to allocate 5.75GiB. The caller indicates that this is not a "
        "failure, but"}) {
    EXPECT_FALSE(shows_failure(text)) << text;
  }
}

TEST(TextSigns, ASuccessIsAServerThatIsUpOrStepsThatGoOn) {
  EXPECT_TRUE(shows_success("INFO:     Application startup complete."));
  EXPECT_TRUE(shows_success("\"POST /v1/completions HTTP/1.1\" 200 OK"));
  EXPECT_TRUE(shows_success("llama runner started in 9.16 seconds"));
  EXPECT_TRUE(shows_success("step 1 loss: 2.0\nstep 2 loss: 1.9\n"));
  EXPECT_FALSE(shows_success("step 1 loss: 2.0\n"));
  EXPECT_FALSE(shows_success("loss: mse\nloss: l1\n"));
  EXPECT_FALSE(shows_success("Loading checkpoint shards: 100%| 4/4 [00:05<00:00, 1.2it/s]\n"));
}

TEST(TextSigns, PathsAndNamesShowThePlatform) {
  EXPECT_EQ(platform_of("  File \"C:\\app\\train.py\", line 41"), Platform::windows);
  EXPECT_EQ(platform_of("$env:PYTORCH_CUDA_ALLOC_CONF=1"), Platform::windows);
  EXPECT_EQ(platform_of("Linux 5.15.90.1-microsoft-standard-WSL2"), Platform::wsl);
  EXPECT_EQ(platform_of("NvMapMemAllocInternalTagged: 1075072515 error 12"), Platform::jetson);
  EXPECT_EQ(platform_of("  File \"/home/me/train.py\", line 41\nError:\\nx"), Platform::unknown);
}

}  // namespace
}  // namespace memreplay
