#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "trace/beginnings.hpp"
#include "trace/readers.hpp"
#include "trace/sqlite_bytes.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;
using Ops = std::vector<Op>;
using Sizes = std::vector<Bytes>;

const std::string kSecond =
    R"({"category":"metadata","name":"version","numeric_args":{"major":2024,"minor":2,"patch":1},"string_args":{"rc":""},"tags":{},"timestamp":1700000000000000000}
{"category":"operation","name":"make_memory_resource","numeric_args":{"introspection":1},"string_args":{"allocator_ref":"0x61a0"},"tags":{"allocator_name":"DEVICE","replay":"true"},"timestamp":1700000000000001000}
{"category":"operation","name":"allocate","numeric_args":{"size":1024},"string_args":{"allocator_ref":"0x61a0","pointer":"0x7f00a000"},"tags":{"replay":"true"},"timestamp":1700000000000002500}
{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x61a0","pointer":"0x7f00a000"},"tags":{"replay":"true"},"timestamp":1700000000000004000}
)";

const std::string kFirst =
    R"(# a sample of the documentation
{ "kind":"replay", "uid":7, "timestamp":1558388052000000000, "event": "makeMemoryResource", "payload": { "name": "HOST" }, "result": "0x10" }
{ "kind":"replay", "uid":7, "timestamp":1558388052000001000, "event": "makeAllocator", "payload": { "allocator_name":"pool", "args": [ "HOST", "1024" ] } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000001000, "event": "makeAllocator", "payload": { "allocator_name":"pool", "args": [ "HOST", "1024" ] }, "result": { "allocator_ref":"0x20" } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000002000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": 64 } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000002000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": 64 }, "result": { "memory_ptr": "0xa0" } }
{ "kind":"replay", "uid":8, "timestamp":1558388052000002000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": 32 }, "result": { "memory_ptr": "0xb0" } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000003000, "event": "allocate", "payload": { "allocator_ref": "0x20", "size": 128 } }
{ "kind":"replay", "uid":7, "timestamp":1558388052000004000, "event": "deallocate", "payload": { "allocator_ref": "0x20", "memory_ptr": "0xa0" } }
)";

Recording read(const std::string& text) { return umpire_reader().read({"log", text}, {}); }

Trace trace_of(const std::string& text) { return read(text).traces.at(0); }

std::string refused(std::string_view text) { return refusal(umpire_reader(), text); }

std::string line(const std::string& name, const std::string& numbers, const std::string& texts) {
  return R"({"category":"operation","name":")" + name + R"(","numeric_args":{)" + numbers +
         R"(},"string_args":{"allocator_ref":"0x1",)" + texts + R"(},"timestamp":1000})" + "\n";
}

std::string allocation(const std::string& pointer, const std::string& size) {
  return line("allocate", "\"size\":" + size, R"("pointer":")" + pointer + '"');
}

std::string deallocation(const std::string& pointer) {
  return line("deallocate", "", R"("pointer":")" + pointer + '"');
}

std::string reallocation(const std::string& from, const std::string& size, const std::string& calls,
                         const std::string& to) {
  return line("reallocate", "\"size\":" + size, R"("current_ptr":")" + from + '"') + calls +
         line("reallocate", "", R"("new_ptr":")" + to + '"');
}

TEST(UmpireReader, TheSecondGenerationIsReadOperationByOperation) {
  const Recording recording = read(kSecond);
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free}));
  EXPECT_EQ(trace.sizes, (Sizes{1024, 1024}));
  EXPECT_EQ(trace.ids, (std::vector<std::uint64_t>(2, 0x7f00a000)));
  EXPECT_EQ(trace.times_us, (std::vector<std::int64_t>{1700000000000002, 1700000000000004}));
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "DEVICE");
  EXPECT_TRUE(trace.coverage.dropped.empty());
}

TEST(UmpireReader, ADatabaseIsReadAsItsLines) {
  std::string statements = "CREATE TABLE IF NOT EXISTS EVENTS (EVENT           JSON    );";
  for (std::size_t from = 0; from < kSecond.size();) {
    const std::size_t end = kSecond.find('\n', from);
    statements += "INSERT INTO EVENTS VALUES(json('" + kSecond.substr(from, end - from) + "'));";
    from = end + 1;
  }
  const Recording recording = read_recording("log", database(statements), {});
  EXPECT_EQ(recording.traces, read(kSecond).traces);
  EXPECT_EQ(recording.detail, "Umpire's replay log, a SQLite database");
  EXPECT_EQ(refusal(umpire_reader(), database("CREATE TABLE EVENTS (A TEXT)")),
            "log: has no table EVENTS of Umpire's, with a column EVENT");
}

TEST(UmpireReader, TheFirstGenerationSaysEveryAllocationTwice) {
  const Recording recording = read(kFirst);
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free}));
  EXPECT_EQ(trace.sizes, (Sizes{64, 64}));
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "pool");
  const std::map<std::string, std::uint64_t> dropped = {
      {"allocations without a result (failed, or cut off)", 1}, {"lines of other processes", 1}};
  EXPECT_EQ(trace.coverage.dropped, dropped);
}

std::string resource(const std::string& ref, const std::string& name) {
  return R"({"category":"operation","name":"make_memory_resource","string_args":{"allocator_ref":")" +
         ref + R"("},"tags":{"allocator_name":")" + name + R"("},"timestamp":1})" + "\n";
}

std::string pool(const std::string& ref, const std::string& name, const std::string& parent) {
  return R"({"category":"operation","name":"make_allocator","string_args":{"allocator_ref":")" +
         ref + R"(","arg0":")" + parent + R"("},"tags":{"allocator_name":")" + name +
         R"("},"timestamp":1})" + "\n";
}

std::string allocation_by(const std::string& ref, const std::string& size) {
  std::string text = allocation("0xa0", size);
  return text.replace(text.find("0x1\""), 3, ref);
}

TEST(UmpireReader, EachKindOfMemoryIsADeviceOfItsOwn) {
  const std::vector<std::pair<std::string, int>> kinds = {
      {"HOST", kHostMemory},  {"PINNED", kPinnedMemory},
      {"UM", kManagedMemory}, {"FILE", kHostMemory},
      {"DEVICE", 0},          {"DEVICE::0", 0},
      {"DEVICE::3", 3},       {"DEVICE_CONST::2", 2}};
  for (const auto& [name, device] : kinds) {
    const Recording recording = read(resource("0x1", name) + allocation("0xa0", "8"));
    ASSERT_EQ(recording.traces.size(), 1u) << name;
    EXPECT_EQ(recording.traces[0].gpu, device) << name;
  }
}

TEST(UmpireReader, APoolIsWhereWhatItIsMadeOfIs) {
  const Recording recording =
      read(resource("0x5", "HOST") + resource("0x6", "DEVICE::1") + pool("0x7", "p", "DEVICE::1") +
           pool("0x8", "of p", "p") + allocation_by("0x8", "8") + allocation_by("0x5", "9"));
  ASSERT_EQ(recording.traces.size(), 2u);
  EXPECT_EQ(recording.traces[0].gpu, kHostMemory);
  EXPECT_EQ(recording.traces[0].sizes, (Sizes{9}));
  EXPECT_EQ(recording.traces[1].gpu, 1);
  EXPECT_EQ(recording.traces[1].sizes, (Sizes{8}));
}

TEST(UmpireReader, TheFirstGenerationSaysInAListWhatAPoolIsMadeOf) {
  EXPECT_EQ(trace_of(kFirst).gpu, kHostMemory);
}

TEST(UmpireReader, AnotherProcessIsReadWhereItIsNamed) {
  const Recording recording = umpire_reader().read({"log", kFirst}, {.process = "8"});
  EXPECT_EQ(recording.traces.at(0).sizes, (Sizes{32}));
  EXPECT_EQ(recording.detail, "Umpire's replay log, process '8' of '7', '8'");
  try {
    umpire_reader().read({"log", kFirst}, {.process = "9"});
    FAIL() << "read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no events of process '9'; expected one of '7', '8'"));
  }
}

TEST(UmpireReader, ProcessesThatAreMergedHaveAllocatorsOfTheirOwn) {
  const Recording recording = umpire_reader().read({"log", kFirst}, {.process = "all"});
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(trace.sizes, (Sizes{64, 64}));
  EXPECT_EQ(recording.traces.at(1).sizes, (Sizes{32}));  // the other does not make what it asks
  EXPECT_THAT(recording.detail, HasSubstr("processes '7', '8' merged"));
  EXPECT_FALSE(trace.coverage.dropped.contains("lines of other processes"));
}

TEST(UmpireReader, AllocatorsArePoolsAndAnAddressIsLiveInEach) {
  std::string other = allocation("0xa0", "8") + deallocation("0xa0");
  for (std::size_t at = 0; (at = other.find("\"0x1\"", at)) != other.npos;) other[at + 3] = '2';
  const Trace trace = trace_of(allocation("0xa0", "9") + other + deallocation("0xa0"));
  EXPECT_EQ(trace.sizes, (Sizes{9, 8, 8, 9}));
  EXPECT_EQ(trace.pools, (std::vector<PoolId>{{0, 0}, {0, 1}}));
  EXPECT_EQ(trace.lane(1).pool, 1);
}

TEST(UmpireReader, ANamedAllocationIsOfThatName) {
  const Recording recording =
      read(line("named_allocate", "\"size\":8", R"("pointer":"0xa0","allocation_name":"mesh")"));
  EXPECT_EQ(recording.texts.at(recording.traces.at(0).tags.at(0)), "mesh");
}

TEST(UmpireReader, AReallocationIsWhatItsCallsDid) {
  const Trace trace =
      trace_of(allocation("0xa0", "4") +
               reallocation("0xa0", "12", allocation("0xb0", "12") + deallocation("0xa0"), "0xb0"));
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::allocate, Op::free}));
}

TEST(UmpireReader, AReallocationWithoutCallsFreesAndAllocates) {
  const Trace trace = trace_of(allocation("0xa0", "4") + reallocation("0xa0", "12", "", "0xa0") +
                               reallocation("0", "7", "", "0xb0"));
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free, Op::allocate, Op::allocate}));
  EXPECT_EQ(trace.sizes, (Sizes{4, 4, 12, 7}));
}

TEST(UmpireReader, ABlockStaysWhereItsReallocationIsRefused) {
  const Trace trace = trace_of(allocation("0xa0", "4") + reallocation("0xa0", "12", "", "0"));
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::oom}));
  EXPECT_EQ(trace.sizes, (Sizes{4, 12}));
}

TEST(UmpireReader, WhatIsLackingOrMeansNothingIsCounted) {
  const Trace trace = trace_of(deallocation("0xc0") + deallocation("0") + allocation("0", "5") +
                               allocation("0xa0", "0") + deallocation("0xa0") +
                               allocation("0xa0", "4") + allocation("0xa0", "5"));
  EXPECT_EQ(trace.ops, (Ops{Op::oom, Op::allocate, Op::free, Op::allocate}));
  EXPECT_EQ(trace.sizes, (Sizes{5, 4, 4, 5}));
  const std::map<std::string, std::uint64_t> dropped = {
      {"allocations of size 0", 1},
      {"frees of blocks of size 0", 1},
      {"frees of blocks that the log does not allocate", 1},
      {"frees of null", 1}};
  EXPECT_EQ(trace.coverage.dropped, dropped);
  EXPECT_EQ(trace.coverage.synthesised.at("frees missing in the log"), 1u);
  EXPECT_FALSE(trace.coverage.gapless);
}

TEST(UmpireReader, ABlockOfSizeZeroLeavesItsAddressToAnother) {
  const Trace trace = trace_of(allocation("0xa0", "0") + allocation("0xa0", "4") +
                               deallocation("0xa0") + deallocation("0xa0"));
  EXPECT_EQ(trace.ops, (Ops{Op::allocate, Op::free}));
  EXPECT_TRUE(trace.coverage.gapless);
}

TEST(UmpireReader, ByteOrderMarkCarriageReturnsAndAMissingLastNewlineAreFine) {
  std::string text = "\xEF\xBB\xBF" + kSecond;
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2) {
    text.insert(at, 1, '\r');
  }
  EXPECT_EQ(trace_of(text), trace_of(kSecond));
  EXPECT_EQ(trace_of(text.substr(0, text.size() - 2)), trace_of(kSecond));
}

TEST(UmpireReader, WhatIsNoNumberIsRefusedByItsLine) {
  EXPECT_THAT(refused(allocation("0xa0", "-1")), HasSubstr("log:1: a size is '-1'; expected"));
  EXPECT_THAT(refused(allocation("0xa0", "9223372036854775808")), HasSubstr("less than 1"));
  EXPECT_THAT(refused(allocation("0xa0", "18446744073709551616")), HasSubstr("a whole number"));
  EXPECT_THAT(refused(kSecond + allocation("a0", "1")), HasSubstr("log:5: a pointer is 'a0'"));
  EXPECT_THAT(refused(kSecond + "{]\n"), HasSubstr("log:5: is not a JSON object; expected"));
  EXPECT_THAT(refused(kSecond + "{}\n"), HasSubstr("log:5: has no name of an event; expected"));
}

TEST(UmpireReader, ATextThatIsCutAnywhereIsReadOrRefusedByItsLine) {
  expect_any_beginning(umpire_reader(), kFirst);
  expect_any_beginning(umpire_reader(), kSecond);
  EXPECT_EQ(trace_of(kSecond.substr(0, kSecond.size() - 5))
                .coverage.dropped.at("a last line that is cut off"),
            1u);
}

}  // namespace
}  // namespace memreplay
