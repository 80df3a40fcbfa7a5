#include "trace/process_choice.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(ProcessChoice, TheFirstIsRead) {
  ProcessChoice choice({});
  EXPECT_TRUE(choice.takes("b"));
  EXPECT_FALSE(choice.takes("a"));
  Recording recording;
  EXPECT_EQ(choice.tell(recording), "");
  EXPECT_EQ(recording.detail, ", process 'b' of 'a', 'b'");
}

TEST(ProcessChoice, OfOneThereIsNothingToTell) {
  ProcessChoice choice({});
  EXPECT_TRUE(choice.takes(5));
  Recording recording;
  EXPECT_EQ(choice.tell(recording), "");
  EXPECT_EQ(recording.detail, "");
}

TEST(ProcessChoice, WhatIsAskedForHasToBeThere) {
  ProcessChoice choice({.process = "6"});
  EXPECT_FALSE(choice.takes(5));
  Recording recording;
  EXPECT_EQ(choice.tell(recording), "no events of process '6'; expected one of '5', or all");
  EXPECT_TRUE(choice.takes(6));
  EXPECT_EQ(choice.tell(recording), "");
}

TEST(ProcessChoice, AllAreMerged) {
  ProcessChoice choice({.process = "all"});
  EXPECT_TRUE(choice.is_merged());
  EXPECT_TRUE(choice.takes(5));
  EXPECT_TRUE(choice.takes(6));
  Recording recording;
  EXPECT_EQ(choice.tell(recording), "");
  EXPECT_EQ(recording.detail, ", processes '5', '6' merged");
}

}  // namespace
}  // namespace memreplay
