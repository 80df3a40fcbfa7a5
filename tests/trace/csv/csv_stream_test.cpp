#include <gtest/gtest.h>

#include "core/error.hpp"
#include "trace/csv/csv.hpp"

namespace memreplay {
namespace {

/// Puts together again what is handed on.
class Collector final : public EventSink {
 public:
  void add(std::size_t trace, const EventColumns& events) override {
    EXPECT_EQ(trace, 0u);
    append(events, events_);
  }
  void finish(const Recording& recording) override {
    ASSERT_EQ(recording.traces.size(), 1u);
    EXPECT_TRUE(recording.traces.front().ops.empty());
    recording_ = recording;
    static_cast<EventColumns&>(recording_.traces.front()) = std::move(events_);
  }
  const Recording& recording() const { return recording_; }

 private:
  EventColumns events_;
  Recording recording_;
};

bool streams(std::string_view text, Collector& collector) {
  return csv_reader().stream({"t.csv", text}, {}, [&]() -> EventSink& { return collector; });
}

bool streams(std::string_view text) {
  Collector collector;
  return streams(text, collector);
}

std::string complaint(std::string_view text) {
  try {
    streams(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(CsvStream, HandsOnWhatReadingGives) {
  std::string text = "op,id,size,stream,pool,thread,time_us,align,tag,end\n";
  for (int i = 0; i < 70'000; ++i) {
    text += "a," + std::to_string(i) + "," + std::to_string(100 + i % 9) + "," +
            std::to_string(9 - i % 3) + ",,4," + std::to_string(i) + ",256,who " +
            std::to_string(i % 5) + ",upper\n";
    if (i % 7 > 2) text += "f," + std::to_string(i - 2) + ",,,,,,,,\n";
    if (i % 1000 == 0) text += "e,,,,,,,,,\nm,,,,,,,,step,\ns,,8,,,,,,,\n";
  }
  Collector collector;
  ASSERT_TRUE(streams(text, collector));
  EXPECT_EQ(collector.recording(), csv_reader().read({"t.csv", text}, {}));
}

TEST(CsvStream, IsNotPossibleWhereRowsTellOfThoseBefore) {
  EXPECT_TRUE(streams("op,id,size\na,0,5\nf,0,\n"));
  EXPECT_FALSE(streams("op,id,size\na,0,5\nf,0,\nc,0,\n"));
  EXPECT_FALSE(streams("op,id,size,time\na,0,5,1\n"));
  EXPECT_FALSE(streams("op,id,size,device\na,0,5,0\na,1,5,1\n"));
  EXPECT_FALSE(streams("op,id,size\n"));
  EXPECT_FALSE(streams("op,id,size\nf,null,\n"));
}

TEST(CsvStream, CountsWhatMustBeReadWholeAsItIs) {
  const std::string text = "op,id,size\na,0,5\na,1,5\nf,0,\n";
  const auto counted = [](const std::string& csv) {
    return read_recording("t.csv", csv, {.counted = true});
  };
  EXPECT_TRUE(counted(text).traces.at(0).streamed);
  for (const std::string& whole :
       {text + "c,0,\n", std::string("op,id,size,time\na,0,5,1\n"),
        std::string("op,id,size,device\na,0,5,0\na,1,5,1\n"), std::string("op,id,size\n")}) {
    EXPECT_EQ(counted(whole), read_recording("t.csv", whole, {})) << whole;
  }
}

TEST(CsvStream, RefusesWhatReadingRefuses) {
  EXPECT_EQ(complaint("op,id,size\na,0,5\nf,0,\nf,0,\n"),
            "t.csv:4: free of buffer 0, which is free already");
  EXPECT_EQ(complaint("op,id,size\na,0,5\nf,1,\n"),
            "t.csv:3: free of buffer 1, which was never allocated");
  EXPECT_EQ(complaint("op,id,size\nf,1,\nwhat,1,\n"),
            "t.csv:2: free of buffer 1, which was never allocated");
  EXPECT_EQ(complaint("op,id,size,device\na,1,5,5000\n"),
            "t.csv: device 5000; expected a number from -3 to 1023");
  EXPECT_EQ(complaint("op,id,size\na,0,5\na,0,5\n"),
            "t.csv:3: allocation of buffer 0, which is live already");
  EXPECT_NE(complaint("op,id,size\na,0,2000000000000000000\n").find("expected less than 1 EiB"),
            std::string::npos);
}

}  // namespace
}  // namespace memreplay
