#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "replay/random_recording.hpp"
#include "trace/mrt/mrt_format.hpp"
#include "trace/reader.hpp"
#include "trace/trace.hpp"
#include "trace/writer.hpp"

namespace memreplay {

ReaderInfo mrt_reader();

namespace {

using testing::HasSubstr;

std::string written(const Recording& recording) {
  std::ostringstream out;
  EXPECT_TRUE(writer_for("a.mrt").write(recording, out).empty());
  return std::move(out).str();
}

Recording read(const std::string& bytes, const std::string& name = "t.mrt") {
  return mrt_reader().read({name, bytes}, {});
}

std::string complaint(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

class MrtFileOnDisk : public testing::Test {
 protected:
  MrtFileOnDisk()
      : path_((std::filesystem::temp_directory_path() /
               ("mrt_test." + std::to_string(getpid()) + ".mrt"))
                  .string()) {}
  ~MrtFileOnDisk() override { std::filesystem::remove(path_); }

  void store(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  Recording streamed() const { return read_recording(path_, {.most_in_memory = 0}); }
  static EventColumns events_of(const Trace& trace) {
    EventColumns all;
    for_each_block(trace, ColdColumns::and_times, [&](std::uint64_t first, const auto& events) {
      EXPECT_EQ(first, all.ops.size());
      append(events, all);
      return true;
    });
    return all;
  }

  const std::string path_;
};

TEST(Mrt, WhatALogLacksAndWhereARepairIsMetFirstStay) {
  Recording recording = read_recording("log", "v 1 3\nt a0 0\n+ 8 1 10\n- 0\n", {});
  const Coverage& coverage = recording.traces.at(0).coverage;
  ASSERT_EQ(coverage.first_places.at("frees of null"), "line 4");
  const Recording again = read(written(recording), "log");
  EXPECT_EQ(again, recording);
  recording.lacks.clear();
  recording.traces.at(0).coverage.first_places.clear();
  EXPECT_LT(written(recording).size(), written(again).size());
}

TEST(Mrt, EveryTruncationIsAnError) {
  const std::string whole = written(random_recording({.events = 60}));
  for (std::size_t size = kMrtMagic.size(); size < whole.size(); ++size) {
    EXPECT_THAT(complaint(whole.substr(0, size)), HasSubstr("t.mrt: is ")) << size;
  }
}

TEST(Mrt, EveryFlippedBitIsAnError) {
  const std::string whole = written(random_recording({.events = 60}));
  for (std::size_t bit = 8 * kMrtMagic.size(); bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(complaint(damaged), "") << bit;
  }
}

TEST(Mrt, DamageInABlockIsToldWithItsNumber) {
  std::string bytes = written(random_recording({.events = 100'000}));
  bytes[bytes.size() / 4] ^= 1;
  EXPECT_EQ(complaint(bytes), "t.mrt: block 0: is damaged: its checksum is wrong");
}

TEST(Mrt, AnotherVersionIsToldSo) {
  std::string bytes = written(random_recording({}));
  bytes[kMrtMagic.size()] = 3;
  EXPECT_EQ(complaint(bytes), "t.mrt: is of version 3 of .mrt; expected 1 to 2");
}

TEST(Mrt, AFileOfVersionOneIsReadStill) {
  std::string bytes = written(random_recording({.events = 2000, .streams = 1}));  // packs nothing
  const Recording now = read(bytes);
  bytes[kMrtMagic.size()] = 1;
  EXPECT_EQ(read(bytes), now);
}

/// A file with this end, whose checksum is right.
std::string with_about(const MrtAbout& about) {
  std::string said;
  AboutWriter writer(said);
  writer.put(about.recording);
  for (const EventTotals& totals : about.totals) writer.put(totals);
  writer.put(about.blocks);
  MrtEnd end{.about_at = kMrtFrontBytes, .crc = mrt_crc(said)};
  std::ranges::copy(kMrtEndMagic, end.magic);
  return std::string(kMrtMagic) + static_cast<char>(kMrtVersion) + said +
         std::string(reinterpret_cast<const char*>(&end), sizeof end);
}

TEST(Mrt, WhatTheEndSaysIsBelievedOnlyAsFarAsTheBytesGo) {
  const Recording recording = random_recording({.events = 0});
  const MrtAbout good{recording, {EventTotals{}}, {}};
  EXPECT_EQ(complaint(with_about(good)), "");
  MrtAbout about = good;
  about.recording.traces[0].slot_count = 1'000'000'000;
  EXPECT_THAT(complaint(with_about(about)), HasSubstr("more blocks at once than there are"));
  about = good;
  about.blocks = {{.trace = 0, .events = 60'000, .bytes = 60'000}};
  EXPECT_THAT(complaint(with_about(about)), HasSubstr("lists other blocks than there are"));
  about = good;
  about.totals[0].events = 1'000'000'000;
  EXPECT_THAT(complaint(with_about(about)), HasSubstr("counts other events than there are"));
  about = good;
  about.recording.frames = {{.name = 7}};
  EXPECT_THAT(complaint(with_about(about)), HasSubstr("refers to what is not in it"));
}

TEST_F(MrtFileOnDisk, EventsCanStayThereAndAreTheSame) {
  const Recording recording = random_recording({.events = 200'000, .live_at_most = 3000});
  store(written(recording));
  const Recording streamed = this->streamed();
  const Trace& trace = streamed.traces.front();
  ASSERT_TRUE(trace.streamed);
  EXPECT_TRUE(trace.ops.empty());
  EXPECT_EQ(trace.size(), recording.traces.front().size());
  EXPECT_EQ(events_of(trace), static_cast<const EventColumns&>(recording.traces.front()));
}

TEST_F(MrtFileOnDisk, RecordingsOfPyTorchAreHeldInMemory) {
  store(written(read_recording(MEMREPLAY_TRACES "/torch/side_streams.pickle")));
  EXPECT_FALSE(streamed().traces.front().streamed);
}

TEST_F(MrtFileOnDisk, DamageIsToldWhenTheBlockIsRead) {
  std::string bytes = written(random_recording({.events = 200'000}));
  bytes[bytes.size() / 2] ^= 1;
  store(bytes);
  const Recording recording = streamed();
  try {
    events_of(recording.traces.front());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(": block 1: is damaged: its checksum is wrong"));
  }
}

TEST_F(MrtFileOnDisk, AFreeOfWhatIsNotAllocatedIsRefusedInAnyBlock) {
  Recording recording = random_recording({.events = 70'000, .streams = 1});
  Trace& trace = recording.traces.front();
  trace.ops.push_back(Op::free);
  trace.slots.push_back(trace.slot_count++);
  trace.sizes.push_back(5);
  trace.lane_of.push_back(0);
  trace.align_log2.push_back(0);
  store(written(recording));
  const Recording left = streamed();
  EXPECT_THROW(events_of(left.traces.front()), InputError);
}

}  // namespace
}  // namespace memreplay
