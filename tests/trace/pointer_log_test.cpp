#include "trace/pointer_log.hpp"

#include <gtest/gtest.h>

#include <string>

#include "trace/csv/csv.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

/// Keeps what is handed on.
class KeptEvents final : public EventSink {
 public:
  void add(std::size_t, const EventColumns& events) override {
    append(events, kept);
    ++pieces;
  }
  void finish(const Recording& whole) override { recording = whole; }

  EventColumns kept;
  Recording recording;
  int pieces = 0;
};

void expect_streamed_as_read(const ReaderInfo& reader, const std::string& text) {
  const Input input{"log", text};
  const Recording read = reader.read(input, {});
  KeptEvents sink;
  ASSERT_TRUE(reader.stream(input, {}, [&]() -> EventSink& { return sink; }));
  EXPECT_GT(sink.pieces, 1);
  static_cast<EventColumns&>(sink.recording.traces.at(0)) = sink.kept;
  EXPECT_EQ(sink.recording, read);
}

TEST(PointerLog, EventsThatLeaveAreThoseOfAFileThatIsHeld) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    const std::string pointer = "\"0x" + std::to_string(1 + i * 7 % 1000) + "\"";
    text += R"({"category":"operation","name":"allocate","numeric_args":{"size":)" +
            std::to_string(i % 50) + R"(},"string_args":{"allocator_ref":"0x)" +
            std::to_string(i % 3) + R"(","pointer":)" + pointer + R"(},"timestamp":1000})" + "\n";
  }
  expect_streamed_as_read(umpire_reader(), text);
}

TEST(PointerLog, StacksAreHandedOnWithTheirEvents) {
  std::string text = "v 1 3\nt a0 0\nt b0 1\n";
  for (int i = 0; i < 100'000; ++i) {
    text += "+ 8 " + std::to_string(i % 3) + " " + std::to_string(1 + i * 7 % 1000) + "\n";
  }
  expect_streamed_as_read(heaptrack_reader(), text);
}

TEST(PointerLog, BlocksFromBeforeTheLogLeaveAheadOfAllElse) {
  std::string text = "Thread,Time,Action,Pointer,Size,Stream\n";
  for (int i = 0; i < 100'000; ++i) {
    text += "1,09:15:02.1," + std::string(i % 3 == 0 ? "free" : "allocate") + ",0x" +
            std::to_string(1 + i * 7 % 1000) + "," + std::to_string(1 + i % 50) + ",0x" +
            std::to_string(i % 3) + "\n";
  }
  expect_streamed_as_read(rmm_reader(), text);
}

TEST(PointerLog, EventsOfAProfilerLeaveAsTheyAreRead) {
  std::string text = R"({"traceEvents":[{"ph":"X"})";
  for (int i = 0; i < 100'000; ++i) {
    text += R"(,{"ph":"i","name":"[memory]","ts":)" + std::to_string(i) + R"(,"args":{"Addr":)" +
            std::to_string(1 + i * 7 % 1000) + R"(,"Bytes":)" + (i % 3 == 0 ? "-" : "") +
            std::to_string(1 + i % 50) + R"(,"Device Type":1,"Device Id":0}})";
  }
  expect_streamed_as_read(kineto_reader(), text + "]}");
}

TEST(PointerLog, ABlockThatIsFreedTwiceWasNotThereBefore) {
  const std::string log = "1 0x20 8 0\n0 0x20 8 0\n0 0x20 8 0\n0 0x30 4 0\n";
  const Trace trace = stalloc_reader().read({"log", log}, {}).traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:4 a1:8 f1:8 f0:4");
  EXPECT_EQ(trace.coverage.dropped.at("frees of blocks that the log does not allocate"), 1u);
}

TEST(PointerLog, NothingLeavesOfALogWithoutEvents) {
  const auto never = []() -> EventSink& { throw std::logic_error("nothing to hand on"); };
  EXPECT_FALSE(umpire_reader().stream({"log", "# nothing\n"}, {}, never));
}

}  // namespace
}  // namespace memreplay
