#include "trace/torch/torch_writer.hpp"

#include <gtest/gtest.h>

#include "trace/pickle_bytes.hpp"
#include "trace/snapshot_copies.hpp"

namespace memreplay {
namespace {

TEST(TorchWriter, FreesThatWereRecordedInOnePartStayWhole) {
  const TemporaryFile file(snapshot(entry("alloc", 4096, 512) + entry("free_requested", 4096, 512) +
                                    entry("alloc", 4096, 1024)),
                           ".pickle");
  const Recording original = recording_of(file.path());
  ASSERT_EQ(original.traces[0].ops[1], Op::free);
  EXPECT_EQ(written_and_read<PickleWriter>(original).traces, original.traces);
}

TEST(TorchWriter, AFreeThatTheRecordingLacksIsNotMadeUp) {
  const TemporaryFile file(snapshot(entry("alloc", 4096, 512) + entry("free_requested", 4096, 512) +
                                    entry("free_completed", 4096, 512) +
                                    entry("alloc", 4096, 1024) + entry("alloc", 4096, 2048)),
                           ".pickle");
  const Recording original = recording_of(file.path());
  ASSERT_EQ(original.traces[0].coverage.synthesised.size(), 1u);
  EXPECT_EQ(written_and_read<PickleWriter>(original).traces, original.traces);
}

TEST(TorchWriter, AReleaseWritesItsOwnKeysOnly) {
  const TemporaryFile file(
      snapshot(entry("alloc", 4096, 512,
                     text("time_us") + number(5) + text("compile_context") + text("N/A"))),
      ".pickle");
  std::ostringstream out;
  JsonWriter writer(out);
  write_torch_snapshot(recording_of(file.path()), writer);
  EXPECT_NE(out.str().find("\"compile_context\":\"N/A\""), std::string::npos);
  EXPECT_EQ(out.str().find("user_metadata"), std::string::npos);
  EXPECT_EQ(out.str().find("pool_id\":"), std::string::npos);
  EXPECT_EQ(out.str().find("host_traces"), std::string::npos);
}

TEST(TorchWriter, ALineThatIsNoneIsWrittenAsPyTorchDoes) {
  const TemporaryFile file(
      snapshot(entry("alloc", 4096, 512, text("frames") + list(frame("f", -1)))), ".pickle");
  const Recording original = recording_of(file.path());
  ASSERT_EQ(original.frames.at(0).line, kNoLine);
  EXPECT_EQ(written_and_read<PickleWriter>(original), original);
  std::ostringstream out;
  JsonWriter writer(out);
  write_torch_snapshot(original, writer);
  EXPECT_NE(out.str().find("\"line\":18446744073709551615"), std::string::npos) << out.str();
}

TEST(TorchWriter, ATraceWithoutTagsAndStacksHasNone) {
  const TemporaryFile file(
      snapshot(entry("alloc", 4096, 512,
                     text("user_metadata") + text("step") + text("frames") + list(frame("f", 3)))),
      ".pickle");
  Recording recording = recording_of(file.path());
  recording.traces.at(0).tags.clear();
  recording.traces.at(0).stacks.clear();
  std::ostringstream out;
  JsonWriter writer(out);
  write_torch_snapshot(recording, writer);
  EXPECT_EQ(out.str().find("step"), std::string::npos) << out.str();
  EXPECT_EQ(out.str().find("\"line\":3"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace memreplay
