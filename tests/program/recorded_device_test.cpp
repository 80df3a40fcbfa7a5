#include "program/recorded_device.hpp"

#include <gtest/gtest.h>

#include <string>

#include "trace/reader.hpp"

namespace memreplay {
namespace {

std::optional<RecordedRoom> room_of(const std::string& name) {
  const Recording recording = read_recording(std::string(MEMREPLAY_TRACES) + "/torch/" + name);
  return recorded_room(Subject(recording, recording.traces[0]));
}

TEST(RecordedDevice, AnOomStatesWhatTheProgramCouldUse) {
  const auto room = room_of("gpt_train_oom.pickle");
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 5226 * kMiB);
  EXPECT_TRUE(room->stated);
}

TEST(RecordedDevice, AFullDeviceWasAtLeastAsLargeAsWhatWasHeld) {
  const auto room = room_of("seq_growth.pickle");
  ASSERT_TRUE(room);
  EXPECT_EQ(room->bytes, 3992 * kMiB);
  EXPECT_FALSE(room->stated);
}

TEST(RecordedDevice, OneThatWasNeverFullIsUnknown) { EXPECT_FALSE(room_of("graph_pool.pickle")); }

}  // namespace
}  // namespace memreplay
