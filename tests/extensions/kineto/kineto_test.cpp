#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/beginnings.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string event(const std::string& ts, const std::string& arguments,
                  const std::string& name = "[memory]") {
  return R"({"ph":"i","cat":"cpu_instant_event","s":"t","name":")" + name +
         R"(","pid":11,"tid":12,"ts":)" + ts + R"(,"args":{)" + arguments + "}}";
}

/// An event on gpu 0; `bytes` with a minus are a free.
std::string call(const std::string& ts, const std::string& address, const std::string& bytes,
                 const std::string& more = {}) {
  return event(ts, R"("Addr":)" + address + R"(,"Bytes":)" + bytes +
                       R"(,"Device Type":1,"Device Id":0)" + more);
}

std::string file(const std::vector<std::string>& events) {
  std::string text = R"({"schemaVersion":1,"deviceProperties":[{"id":0}],"traceEvents":[
 {"ph":"X","name":"aten::mm","ts":1,"dur":2,"args":{"Input Dims":[[2,2],[2]],"Bytes":5}})";
  for (const std::string& one : events) text += ",\n" + one;
  return text + R"(],"traceName":"x"})";
}

Recording read(const std::vector<std::string>& events) {
  return kineto_reader().read({"log", file(events)}, {});
}

Trace trace_of(const std::vector<std::string>& events) { return read(events).traces.at(0); }

std::string refused(const std::string& event) { return refusal(kineto_reader(), file({event})); }

/// The event in another process.
std::string of_process(const std::string& process, std::string event) {
  const std::string own = R"("pid":11)";
  return event.replace(event.find(own), own.size(), R"("pid":)" + process);
}

std::vector<std::string> two_processes() {
  return {call("1", "16", "512"), of_process("7", call("2", "16", "1024")),
          of_process("7", call("3", "16", "-1024")), call("4", "16", "-512")};
}

TEST(KinetoReader, OfSeveralProcessesTheFirstIsReadOrTheOneThatIsNamed) {
  const Recording first = read(two_processes());
  EXPECT_EQ(drawn_events(first.traces.at(0)), "a0:512 f0:512");
  EXPECT_THAT(first.detail, HasSubstr("2 memory events on gpu 0 (512 B above its start at most)"));
  EXPECT_THAT(first.detail, HasSubstr(", process '11' of '11', '7'"));
  const Coverage& coverage = first.traces.at(0).coverage;
  EXPECT_EQ(coverage.dropped.at("events of other processes"), 2u);
  EXPECT_THAT(coverage.first_places.at("events of other processes"), HasSubstr("byte "));
  const Recording named = kineto_reader().read({"log", file(two_processes())}, {.process = "7"});
  EXPECT_EQ(drawn_events(named.traces.at(0)), "a0:1024 f0:1024");
}

TEST(KinetoReader, ProcessesThatAreMergedHaveAddressesOfTheirOwn) {
  const Recording merged = kineto_reader().read({"log", file(two_processes())}, {.process = "all"});
  const Trace& trace = merged.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:512 a1:1024/2 f1:1024/2 f0:512");
  EXPECT_THAT(merged.detail, HasSubstr(", processes '11', '7' merged"));
}

TEST(KinetoReader, AProcessThatIsNotThereIsRefused) {
  EXPECT_THROW(kineto_reader().read({"log", file(two_processes())}, {.process = "8"}), InputError);
}

TEST(KinetoReader, MemoryEventsWithAddressesAreRead) {
  const Recording recording =
      read({call("105.25", "139000000000512", "2097152", R"(,"Ev Idx":0)"),
            call("140.5", "139000000000512", "-2097152", R"(,"Ev Idx":1)")});
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:2097152 f0:2097152");
  EXPECT_THAT(trace.times_us, ElementsAre(105, 140));
  EXPECT_THAT(trace.threads, ElementsAre(12, 12));
  EXPECT_THAT(trace.ids, ElementsAre(139000000000512, 139000000000512));
  EXPECT_TRUE(trace.coverage.gapless);
  EXPECT_FALSE(trace.coverage.complete);  // the sizes are those of the recorder
  EXPECT_THAT(recording.lacks, Contains(HasSubstr("rounded by the recorder")));
}

TEST(KinetoReader, WithoutAddressesNothingIsGuessed) {
  const Recording recording = read({event("1", R"("Bytes":512,"Device Type":1,"Device Id":0)"),
                                    event("2", R"("Bytes":-512,"Device Type":1,"Device Id":0)"),
                                    event("3", R"("Bytes":64,"Device Type":0,"Device Id":-1)")});
  EXPECT_TRUE(recording.traces.empty());
  EXPECT_THAT(recording.why_no_trace, HasSubstr("has 3 [memory] events without addresses"));
  EXPECT_EQ(recording.lacks.front(), "addresses");
  EXPECT_THAT(recording.detail, HasSubstr("2 memory events on gpu 0 (512 B above its start"));
  EXPECT_THAT(recording.detail, HasSubstr("1 memory event on the host"));
}

TEST(KinetoReader, EachDeviceHasATrace) {
  const Recording recording =
      read({event("1", R"("Addr":16,"Bytes":64,"Device Type":0,"Device Id":-1)"),
            event("2", R"("Addr":16,"Bytes":512,"Device Type":1,"Device Id":3)"),
            event("3", R"("Device Id":0,"Device Type":1,"Bytes":1024,"Addr":16)")});
  ASSERT_EQ(recording.traces.size(), 3u);
  EXPECT_EQ(recording.traces.at(0).gpu, -1);
  EXPECT_EQ(drawn_events(recording.traces.at(1)), "a0:1024");
  EXPECT_EQ(recording.traces.at(2).gpu, 3);
}

TEST(KinetoReader, EventsAreOrderedByTimeAndTheirNumber) {
  EXPECT_EQ(drawn_events(trace_of({call("2", "32", "20", R"(,"Ev Idx":7)"),
                                   call("2", "48", "30", R"(,"Ev Idx":6)"),
                                   call("1", "16", "10", R"(,"Ev Idx":9)")})),
            "a0:10 a1:30 a2:20");
}

TEST(KinetoReader, WhatItSaysOfADeviceIsInTheOrderOfTimeToo) {
  EXPECT_THAT(read({call("2", "16", "-30"), call("1", "32", "20")}).detail,
              HasSubstr("2 memory events on gpu 0 (20 B above its start at most)"));
}

TEST(KinetoReader, ATraceMayBeTheListOfItsEventsAlone) {
  const std::string list = " [" + call("1", "16", "20") + ", " + call("2", "16", "-20") + "]\n";
  EXPECT_TRUE(kineto_reader().recognises({"log", list}));
  EXPECT_FALSE(kineto_reader().recognises({"log", "[[1, 0, 20, 3]]"}));
  EXPECT_EQ(drawn_events(kineto_reader().read({"log", list}, {}).traces.at(0)), "a0:20 f0:20");
}

TEST(KinetoReader, NumbersMayStandInQuotes) {
  EXPECT_EQ(drawn_events(trace_of({event(
                "\"1.5\"", R"("Addr":"16","Bytes":"512","Device Type":"1","Device Id":"0")")})),
            "a0:512");
}

TEST(KinetoReader, WhatWasRefusedIsARequestThatFailed) {
  EXPECT_EQ(drawn_events(trace_of(
                {call("1", "16", "8"),
                 event("2", R"("Bytes":4096,"Device Type":1,"Device Id":0)", "[OutOfMemory]")})),
            "a0:8 x:4096");
}

TEST(KinetoReader, WhatItStatesAsAllocatedBeforeItsFirstEventIsThere) {
  const Recording recording =
      read({call("1", "16", "512", R"(,"Total Allocated":1049088,"Total Reserved":4194304)"),
            call("2", "32", "-1024", R"(,"Total Allocated":1048064,"Total Reserved":4194304)")});
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:1024 a1:1047552 a2:512 f0:1024");
  EXPECT_FALSE(trace.coverage.starts_empty);
  EXPECT_EQ(trace.coverage.preexisting_blocks, 2u);
  EXPECT_EQ(trace.coverage.preexisting_bytes, kMiB);
  EXPECT_TRUE(trace.coverage.gapless);
  EXPECT_THAT(recording.lacks,
              Contains("gpu 0: which blocks were live before the log and after it"));
  EXPECT_THAT(recording.lacks,
              Contains("gpu 0: memory cached before the log (3 MiB of 4 MiB reserved)"));
}

TEST(KinetoReader, OfSeveralProcessesEachAllocatorStatesItsOwn) {
  const std::string total = R"(,"Total Allocated":)";
  const Recording merged =
      kineto_reader().read({"log", file({call("1", "16", "512", total + "1512"),
                                         of_process("7", call("2", "16", "-24", total + "2000"))})},
                           {.process = "all"});
  const Trace& trace = merged.traces.at(0);
  EXPECT_EQ(trace.coverage.preexisting_bytes, 1000u + 2024u);
  EXPECT_EQ(trace.coverage.preexisting_blocks, 2u);
}

TEST(KinetoReader, AWindowThatBeginsWithNothingAllocatedStartsEmpty) {
  const Trace trace = trace_of({call("1", "16", "512", R"(,"Total Allocated":512)")});
  EXPECT_EQ(drawn_events(trace), "a0:512");
  EXPECT_TRUE(trace.coverage.starts_empty);
}

TEST(KinetoReader, ABlockThatTheTraceOnlyFreesWasThereBefore) {
  const Recording recording = read({call("1", "16", "8"), call("2", "32", "-512")});
  EXPECT_EQ(drawn_events(recording.traces.at(0)), "a0:512 a1:8 f0:512");
  EXPECT_THAT(recording.lacks,
              Contains(HasSubstr("gpu 0: the order of blocks from before the log")));
}

TEST(KinetoReader, AnEventWithoutAnAddressAmongOthersIsCountedWithItsPlace) {
  const Trace trace =
      trace_of({call("1", "16", "8"), event("2", R"("Bytes":8,"Device Type":1,"Device Id":0)")});
  EXPECT_EQ(trace.coverage.dropped.at("[memory] events without an address"), 1u);
  EXPECT_THAT(trace.coverage.first_places.at("[memory] events without an address"),
              HasSubstr("byte "));
  EXPECT_FALSE(trace.coverage.gapless);
}

TEST(KinetoReader, WhatIsNoEventIsRefusedByItsByte) {
  EXPECT_THAT(refused(call("1", "-16", "8")), HasSubstr("Addr of the [memory] event before it is"));
  EXPECT_THAT(refused(call("1", "16", "8.5")), HasSubstr("Bytes of the [memory] event before"));
  EXPECT_THAT(refused(call("null", "16", "8")), HasSubstr("expected microseconds"));
  EXPECT_THAT(refused(call("1", "16", "8") + "]"), HasSubstr("log: byte 303: is not JSON"));
  EXPECT_THAT(refusal(kineto_reader(), file({})), HasSubstr("has no [memory] events"));
}

}  // namespace
}  // namespace memreplay
