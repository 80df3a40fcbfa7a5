#include "trace/writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

TEST(Writers, AreChosenByTheEndOfTheName) {
  for (const WriterInfo& writer : writers()) {
    EXPECT_EQ(writer_for("small" + std::string(writer.suffix)).name, writer.name);
  }
  EXPECT_EQ(writer_for("-").name, "CSV");
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

TEST(Writers, WhatOneWritesIsReadAgain) {
  const Recording recording = read_recording(MEMREPLAY_TRACES "/torch/side_streams.pickle");
  for (const WriterInfo& writer : writers()) {
    const auto path =
        std::filesystem::temp_directory_path() /
        ("memreplay-written-" + std::to_string(::getpid()) + std::string(writer.suffix));
    std::ofstream out(path, std::ios::binary);
    EXPECT_TRUE(writer.write(recording, out).empty()) << writer.name;
    out.close();
    EXPECT_FALSE(read_recording(path).traces.empty()) << writer.name;
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace memreplay
