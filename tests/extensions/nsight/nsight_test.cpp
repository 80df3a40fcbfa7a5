#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"
#include "trace/sqlite_bytes.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTable =
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId "
    "INTEGER, "
    "contextId INTEGER, address INTEGER, pc INTEGER, bytes INTEGER, memKind INTEGER, "
    "memoryOperationType INTEGER, name TEXT, correlationId INTEGER, streamId INTEGER, "
    "localMemoryPoolAddress INTEGER);";

// start, process, device, address, bytes, kind, operation, and the rest.
std::string row(const std::string& numbers, const std::string& rest = "NULL, NULL, NULL") {
  return "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS (start, globalPid, deviceId, address, bytes, "
         "memKind, memoryOperationType, name, streamId, localMemoryPoolAddress) VALUES (" +
         numbers + ", " + rest + ");";
}

const std::string kPid = std::to_string(std::uint64_t{77} << 24 | 0x1000000000000);

Recording read(const std::string& bytes) {
  const ReaderInfo reader = nsight_reader();
  const Input input{"n.sqlite", bytes};
  EXPECT_TRUE(reader.recognises(input));
  return reader.read(input, {});
}

std::string complaint(const std::string& bytes) {
  try {
    read_recording("n.sqlite", bytes, {});
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Nsight, EventsComeInTheirOrderWithAddressesStreamsAndTimes) {
  const Recording recording =
      read(database(kTable + row("9000, " + kPid + ", 0, 4096, 512, 2, 1", "NULL, 13, NULL") +
                    row("1000, " + kPid + ", 0, 4096, 512, 2, 0", "NULL, 13, NULL") +
                    row("2500, " + kPid + ", 0, -4096, 1048576, 2, 0", "NULL, 7, NULL")));
  EXPECT_EQ(recording.format, "nsight");
  ASSERT_EQ(recording.traces.size(), 1u);
  const Trace& trace = recording.traces[0];
  EXPECT_THAT(trace.ops, ElementsAre(Op::allocate, Op::allocate, Op::free));
  EXPECT_THAT(trace.sizes, ElementsAre(512, 1048576, 512));
  EXPECT_THAT(trace.ids, ElementsAre(4096, -Address{4096}, 4096));
  EXPECT_THAT(trace.times_us, ElementsAre(1, 2, 9));
  EXPECT_THAT(trace.streams, ElementsAre(7, 13));
  EXPECT_TRUE(trace.coverage.complete);
  EXPECT_TRUE(trace.tags.empty());
}

TEST(Nsight, DevicesAreApartAndOtherMemoryAndProcessesAreCounted) {
  const Recording recording = read(database(
      kTable + row("1, " + kPid + ", 1, 16, 8, 2, 0") + row("2, " + kPid + ", 0, 16, 9, 2, 0") +
      row("3, 0, 0, 32, 10, 2, 0") + row("4, " + kPid + ", 0, 48, 11, 1, 0")));
  ASSERT_EQ(recording.traces.size(), 2u);
  EXPECT_EQ(recording.traces[0].gpu, 0);
  EXPECT_THAT(recording.traces[0].sizes, ElementsAre(9));
  EXPECT_EQ(recording.traces[1].gpu, 1);
  const auto& dropped = recording.traces[0].coverage.dropped;
  EXPECT_EQ(dropped.at("events of other processes"), 1u);
  EXPECT_EQ(dropped.at("events of other memory than the device's"), 1u);
}

TEST(Nsight, ProcessesMayBeNamedOrMerged) {
  const std::string other = std::to_string(std::uint64_t{9} << 24);
  const std::string bytes =
      database(kTable + row("1, 0, 0, 16, 8, 2, 0") + row("2, " + other + ", 0, 16, 9, 2, 0") +
               row("3, " + other + ", 0, 16, 9, 2, 1") + row("4, 0, 0, 16, 8, 2, 1"));
  const Recording named = nsight_reader().read({"log", bytes}, {.process = "9"});
  EXPECT_THAT(named.traces.at(0).sizes, ElementsAre(9, 9));
  EXPECT_THAT(named.detail, HasSubstr(", process '9' of '0', '9'"));
  const Recording merged = nsight_reader().read({"log", bytes}, {.process = "all"});
  const Trace& trace = merged.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:8 a1:9/2 f1:9/2 f0:8");
  EXPECT_THROW(nsight_reader().read({"log", bytes}, {.process = "8"}), InputError);
}

TEST(Nsight, StaticsAreThereFirstAndPoolsOfTheDriverArePools) {
  const Recording recording = read(
      database(kTable + row("1, 0, 0, 16, 8, 2, 0", "NULL, NULL, 4096") +
               row("2, 0, 0, 16, 8, 2, 1") + row("9, 0, 0, 32, 10, 5, 0", "'table', NULL, NULL")));
  const Trace& trace = recording.traces.at(0);
  EXPECT_THAT(trace.sizes, ElementsAre(10, 8, 8));
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "table");
  EXPECT_EQ(trace.pools.size(), 2u);
  EXPECT_EQ(trace.pools[trace.lane(1).pool], trace.pools[trace.lane(2).pool]);
  EXPECT_TRUE(trace.coverage.complete);
}

TEST(Nsight, TheEnumsOfTheDatabaseCountMoreThanTheUsualNumbers) {
  const Recording recording = read(
      database(kTable +
               "CREATE TABLE ENUM_CUDA_DEV_MEM_EVENT_OPER (id INTEGER, name TEXT, label TEXT);"
               "INSERT INTO ENUM_CUDA_DEV_MEM_EVENT_OPER VALUES (4, 'X_ALLOCATION', 'Allocation'), "
               "(6, 'X_DEALLOCATION', 'Deallocation');"
               "CREATE TABLE ENUM_CUDA_MEM_KIND (id INTEGER, label TEXT);"
               "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (8, 'Device'), (9, 'Device Static');" +
               row("1, 0, 0, 16, 8, 8, 4") + row("2, 0, 0, 16, 8, 8, 6")));
  EXPECT_THAT(recording.traces.at(0).ops, ElementsAre(Op::allocate, Op::free));
}

TEST(Nsight, OldExportsLackColumns) {
  const Recording recording = read(database(
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, address, bytes, "
      "memoryOperationType); INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, 16, 8, 0)"));
  EXPECT_THAT(recording.traces.at(0).sizes, ElementsAre(8));
}

TEST(Nsight, WhatIsNoExportSaysSo) {
  EXPECT_THAT(complaint(database("CREATE TABLE t (a)")), HasSubstr("--cuda-memory-usage=true"));
  EXPECT_THAT(complaint(database("CREATE TABLE t (a); CREATE VIEW CUDA_GPU_MEMORY_USAGE_EVENTS AS "
                                 "SELECT 1 AS start")),
              HasSubstr("has no table"));
  EXPECT_THAT(complaint(database("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start, address)")),
              HasSubstr("has no column bytes"));
  EXPECT_THAT(complaint(database(kTable)), HasSubstr("no events of device memory"));
  EXPECT_THAT(complaint(database(kTable + row("1, 0, 0, NULL, 8, 2, 0"))),
              HasSubstr("row 1: address is empty"));
  EXPECT_THAT(complaint(database(kTable + row("1, 0, 0, 16, -8, 2, 0"))),
              HasSubstr("row 1: bytes is -8; expected 0 to"));
  EXPECT_THAT(complaint(database(kTable + row("1, 0, 4000, 16, 8, 2, 0"))),
              HasSubstr("row 1: deviceId is 4000"));
  EXPECT_THAT(complaint(database(kTable + row("1, 0, 0, 'x', 8, 2, 0"))),
              HasSubstr("row 1: address is not a whole number"));
}

TEST(Nsight, ADamagedDatabaseIsAnErrorAndNeverACrash) {
  std::string rows;
  for (int i = 0; i < 200; ++i)
    rows += row("1, 0, 0, " + std::to_string(16 * i + 16) + ", 8, 2, 0");
  const std::string whole = database(kTable + rows);
  for (std::size_t cut = 16; cut < whole.size(); cut += 197) {
    complaint(whole.substr(0, cut));
  }
  for (std::size_t at = 16; at < whole.size(); at += 41) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    complaint(damaged);
  }
  std::string page = whole;
  page[100] = 0x55;
  EXPECT_THAT(complaint(page), HasSubstr("is not a readable SQLite database"));
}

TEST(Nsight, ADatabaseThatIsCutOffIsNotReadAsAShorterOne) {
  const std::string bytes = database(kTable + row("1000, 0, 0, 4096, 512, 2, 0"));
  EXPECT_EQ(complaint(bytes), "");
  for (const std::size_t missing :
       {std::size_t{1}, std::size_t{3}, std::size_t{700}, bytes.size() - 16}) {
    EXPECT_THAT(complaint(bytes.substr(0, bytes.size() - missing)),
                HasSubstr("n.sqlite: is cut off"))
        << missing;
  }
}

TEST(Nsight, ADatabaseLeftInTheModeOfAWriteAheadLogIsRead) {
  std::string bytes = database(kTable + row("1, 0, 0, 16, 8, 2, 0"));
  bytes[18] = bytes[19] = 2;
  EXPECT_EQ(read(bytes).traces.at(0).size(), 1u);
}

const std::string kCsv =
    "start,globalPid,deviceId,contextId,address,bytes,memKind,memoryOperationType,streamId\n"
    "1000,281479271677952,0,1,139636000000,4096,2,0,13\n"
    "2500,281479271677952,0,1,139636004096,1048576,2,0,13\n"
    "9000,281479271677952,0,1,139636000000,4096,2,1,13\n";

TEST(Nsight, TheSameColumnsAreReadAsCsv) {
  std::string crlf = "\xEF\xBB\xBF" + kCsv.substr(0, kCsv.size() - 1);
  for (std::size_t at = 0; (at = crlf.find('\n', at)) != crlf.npos; at += 2) crlf.insert(at, "\r");
  for (const std::string& csv : {kCsv, crlf}) {
    const Trace trace = read(csv).traces.at(0);
    EXPECT_THAT(trace.ops, ElementsAre(Op::allocate, Op::allocate, Op::free));
    EXPECT_THAT(trace.ids, ElementsAre(139636000000, 139636004096, 139636000000));
    EXPECT_THAT(trace.streams, ElementsAre(13));
  }
  const Trace reordered =
      read("memoryOperationType,bytes,address,start\n0,8,18446744073709551615,5\n").traces.at(0);
  EXPECT_THAT(reordered.ids, ElementsAre(UINT64_MAX));
}

TEST(Nsight, WrongCsvIsAnErrorAtItsLine) {
  const std::string header = "start,address,bytes,memoryOperationType\n";
  EXPECT_THAT(complaint(header + "1,16,8\n"), HasSubstr("n.sqlite:2: 3 fields; the header has 4"));
  EXPECT_THAT(complaint(header + "1,16,4k,0\n"), HasSubstr("n.sqlite:2:6: '4k' is not a number"));
  EXPECT_THAT(complaint(header + "1,16,9223372036854775808,0\n"), HasSubstr("2: bytes is -9223"));
  EXPECT_THAT(complaint("bytes,memoryOperationType\n"), HasSubstr("no column start"));
  for (std::size_t cut = kCsv.find('\n'); cut < kCsv.size(); ++cut) complaint(kCsv.substr(0, cut));
}

/// What is read, or why it is refused.
std::string outcome(const std::string& text, Recording& recording) {
  try {
    recording = nsight_reader().read({"n.csv", text}, {});
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

// Rows of plain digits that end in a line feed are read by a way of their own.
TEST(NsightReader, PlainRowsAreReadAsTheOthers) {
  const std::vector<std::string> words = {"4096",
                                          "8192",
                                          "1",
                                          "0",
                                          "2",
                                          "",
                                          "123456789",
                                          "-1",
                                          " 5",
                                          "07",
                                          "1.5",
                                          "\"4\"",
                                          "x",
                                          "9999999999999999999",
                                          "18446744073709551615"};
  std::mt19937 draw(2);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string plain = "start,pc,address,bytes,memoryOperationType,name,streamId\n";
    const bool odd = draw() % 2 == 0;
    const auto word = [&](std::size_t plainly) {
      return words[odd && draw() % 10 == 0 ? draw() % words.size() : draw() % plainly];
    };
    for (std::size_t row = 0, rows = 1 + draw() % 4; row < rows; ++row) {
      plain += std::to_string(row * 1000) + "," + word(6) + "," + word(2) + "," + word(5) + "," +
               std::to_string(draw() % 2) + "," + word(6) + "," + word(6);
      plain += odd && draw() % 20 == 0 ? "\n\n" : "\n";
    }
    std::string other;
    for (const char c : plain) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
    Recording recording;
    Recording expected;
    const std::string error = outcome(plain, recording);
    EXPECT_EQ(error, outcome(other, expected)) << plain;
    EXPECT_EQ(recording, expected) << plain;
    whole += error.empty();
  }
  EXPECT_GT(whole, 2'000);
}

}  // namespace
}  // namespace memreplay
