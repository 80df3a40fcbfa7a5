#include "trace/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

TEST(Writers, AreChosenByTheEndOfTheName) {
  EXPECT_EQ(writer_for("small.pickle").format, "pickle");
  EXPECT_EQ(writer_for("small.json").format, "json");
  EXPECT_EQ(writer_for("small.csv").format, "csv");
  EXPECT_EQ(writer_for("small.mrt").format, "mrt");
  EXPECT_EQ(writer_for("-").name, "CSV");
}

TEST(Writers, AreChosenByTheirOwnNames) {
  for (const WriterInfo& writer : writers()) {
    EXPECT_EQ(writer_named(std::string(writer.format)).name, writer.name);
  }
  EXPECT_THROW(writer_named("minimaloc"), UsageError);
}

TEST(Writers, AnotherEndIsRefusedWithThoseThatAreKnown) {
  try {
    writer_for("small.txt");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("expected NAME.pickle, NAME.json, NAME.csv or NAME.mrt, or - for"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(files_with_addresses(), "NAME.pickle or NAME.json");
}

std::string written(const WriterInfo& writer, const Recording& recording) {
  std::ostringstream out;
  writer.write(recording, out);
  return out.str();
}

Recording read_text(const std::string& text) {
  const auto path =
      std::filesystem::temp_directory_path() / ("memreplay-written-" + std::to_string(::getpid()));
  std::ofstream(path, std::ios::binary) << text;
  Recording recording = read_recording(path);
  std::filesystem::remove(path);
  return recording;
}

Recording read_csv_text(const std::string& rows) { return read_text("op,id,size" + rows); }

TEST(Writers, RmmHasADayWithoutDateAndHandlesAsTheyAre) {
  const Recording recording = read_csv_text(
      ",stream,thread,time_us\na,4096,100,0,7,90061000002\nf,4096,,1439746208,8,90061000010\n");
  EXPECT_EQ(written(writer_named("rmm"), recording),
            "Thread,Time,Action,Pointer,Size,Stream\n"
            "7,01:01:01.000002,allocate,0x1000,100,0\n"
            "8,01:01:01.000010,free,0x1000,100,0x55d0c8a0\n");
}

TEST(Writers, RmmPointersAreInventedWhereABlockHasNone) {
  EXPECT_EQ(written(writer_named("rmm"), read_csv_text("\na,0,100\na,1,5\nf,0,\n")),
            "Thread,Time,Action,Pointer,Size,Stream\n"
            "0,00:00:00.000000,allocate,0x100000000000,100,0\n"
            "0,00:00:00.000000,allocate,0x100000000100,5,0\n"
            "0,00:00:00.000000,free,0x100000000000,100,0\n");
}

TEST(Writers, RmmStreamsOfReservedHandlesStayApart) {
  const std::string log =
      written(writer_named("rmm"), read_csv_text(",stream\na,7,1,0\na,8,1,1\na,9,1,2\nf,8,,2\n"));
  EXPECT_EQ(log,
            "Thread,Time,Action,Pointer,Size,Stream\n"
            "0,00:00:00.000000,allocate,0x7,1,0\n"
            "0,00:00:00.000000,allocate,0x8,1,0x100000001\n"
            "0,00:00:00.000000,allocate,0x9,1,0x100000002\n"
            "0,00:00:00.000000,free,0x8,1,0x100000002\n");
  EXPECT_EQ(written(writer_named("rmm"), read_text(log)), log);
}

TEST(Writers, LifetimesCountEventsAndEndTogetherBehindTheLastAllocation) {
  EXPECT_EQ(written(writer_named("minimalloc"),
                    read_csv_text(",align\na,7,100,\na,8,5,64\nf,7,,\na,9,1,\nf,8,,\nf,9,,\n")),
            "id,lower,upper,size,alignment\n"
            "7,0,2,100,1\n"
            "8,1,4,5,64\n"
            "9,3,4,1,1\n");
}

TEST(Writers, LifetimesOfIdsThatComeAgainAreNumbered) {
  EXPECT_EQ(written(writer_named("minimalloc"), read_csv_text("\na,7,1\nf,7,\na,7,2\n")),
            "id,lower,upper,size\n0,0,1,1\n1,2,3,2\n");
}

TEST(Writers, WhatALogHasNoPlaceForIsCounted) {
  const Recording recording =
      read_csv_text(",stream,tag\na,1,100,0,\nm,,,0,step\na,2,0,0,\nf,1,,3,\ne,,,0,\n");
  std::ostringstream out;
  EXPECT_EQ(writer_named("rmm").write(recording, out).front(),
            "left out, because an RMM log cannot hold it, by events: requests of no bytes (1), "
            "markers (1), emptied caches (1), tags (1)");
  EXPECT_EQ(writer_named("minimalloc").write(recording, out).front(),
            "left out, because a list of lifetimes cannot hold it, by events: requests of no bytes "
            "(1), markers (1), emptied caches (1), streams (1), tags (1)");
  EXPECT_TRUE(writer_named("rmm").write(read_csv_text("\na,1,2\n"), out).empty());
}

}  // namespace
}  // namespace memreplay
