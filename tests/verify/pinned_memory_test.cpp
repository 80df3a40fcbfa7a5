#include "verify/pinned_memory.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "trace/reader.hpp"
#include "verify/verify.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// The pinned memory of a snapshot, entry by entry.
class PinnedSnapshot {
 public:
  explicit PinnedSnapshot(std::string conf = {}) : conf_(std::move(conf)) {}

  PinnedSnapshot& entry(const char* action, Address address, Bytes size) {
    entries_ +=
        fmt::format(R"({}{{"action": "{}", "addr": {}, "size": {}, "stream": 0, "time_us": 1}})",
                    entries_.empty() ? "" : ", ", action, address, size);
    return *this;
  }
  PinnedSnapshot& miss(Address address, Bytes size) {
    return entry("segment_alloc", address, size).entry("alloc", address, size);
  }
  PinnedSnapshot& free(Address address, Bytes size) {
    return entry("free_requested", address, size).entry("free_completed", address, size);
  }
  Recording read(bool host = true) const {
    const std::string json = fmt::format(
        R"({{"segments": [], "device_traces": [[{}]], "host_segments": [], "host_traces": [{}],
            "allocator_settings": {{"PYTORCH_CUDA_ALLOC_CONF": "{}"}}}})",
        R"({"action": "segment_alloc", "addr": 4096, "size": 2097152, "stream": 0})", entries_,
        conf_);
    return read_recording("s.json", json, {.host = host});
  }
  VerifyRun verified() const {
    const Recording recording = read();
    return verify(recording, recording.traces.at(0));
  }

 private:
  std::string conf_;
  std::string entries_;
};

void expect_exact(const VerifyRun& run) {
  EXPECT_EQ(run.verdict, Verdict::exact)
      << (run.first_divergence ? run.first_divergence->expected : run.reason);
  EXPECT_EQ(run.allocs_matched, run.allocs);
  EXPECT_EQ(run.segment_events_matched, run.segment_events);
}

TEST(PinnedMemory, IsReadAsDeviceMinusOneOnlyWhereItIsAskedFor) {
  const PinnedSnapshot snapshot = PinnedSnapshot("a:1").miss(8192, 4096).free(8192, 4096);
  const Recording host = snapshot.read();
  EXPECT_EQ(host.format, kPinnedHostFormat);
  ASSERT_EQ(host.traces.size(), 1u);
  EXPECT_EQ(host.traces[0].gpu, -1);
  EXPECT_EQ(host.traces[0].size(), 3u);  // its free is one event
  EXPECT_TRUE(host.traces[0].coverage.starts_empty);
  const Recording devices = snapshot.read(false);
  ASSERT_EQ(devices.traces.size(), 1u);
  EXPECT_EQ(devices.traces[0].gpu, 0);
}

TEST(PinnedMemory, ASnapshotWithoutAnySaysHowToRecordIt) {
  try {
    PinnedSnapshot().read();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("record_pinned_host_memory=True"), std::string::npos);
  }
}

TEST(PinnedMemory, BlocksThatComeAgainLastInFirstOutAreReproduced) {
  expect_exact(PinnedSnapshot()
                   .miss(8192, 4096)
                   .miss(65536, 4096)
                   .free(8192, 4096)
                   .free(65536, 4096)
                   .entry("alloc", 65536, 4096)
                   .entry("alloc", 8192, 4096)
                   .verified());
}

TEST(PinnedMemory, ABlockThatTheModelWouldNotTakeIsADivergence) {
  const VerifyRun run = PinnedSnapshot()
                            .miss(8192, 4096)
                            .miss(65536, 4096)
                            .free(8192, 4096)
                            .free(65536, 4096)
                            .entry("alloc", 8192, 4096)
                            .verified();
  EXPECT_EQ(run.verdict, Verdict::diverged);
  EXPECT_EQ(run.allocs_matched, 2u);
  ASSERT_TRUE(run.first_divergence);
  EXPECT_EQ(run.first_divergence->event, 6u);
}

TEST(PinnedMemory, WhatAnEmptiedCacheGivesBackIsReproduced) {
  PinnedSnapshot snapshot;
  snapshot.miss(8192, 4096).free(8192, 4096).entry("segment_free", 8192, 4096);
  expect_exact(snapshot.verified());
  expect_exact(snapshot.miss(65536, 4096).verified());
}

TEST(PinnedMemory, BlocksThatAreTooLargeToKeepGoBackAtOnce) {
  expect_exact(PinnedSnapshot("pinned_max_cached_size_mb:4,pinned_max_round_threshold_mb:1")
                   .miss(8192, 4096)
                   .miss(1 << 30, 5 << 20)
                   .free(1 << 30, 5 << 20)
                   .entry("segment_free", 1 << 30, 5 << 20)
                   .free(8192, 4096)
                   .entry("alloc", 8192, 4096)
                   .verified());
}

TEST(PinnedMemory, BlocksFromBeforeTheRecordingAreNotReproduced) {
  const VerifyRun run = PinnedSnapshot().free(8192, 4096).miss(65536, 4096).verified();
  EXPECT_EQ(run.verdict, Verdict::unsupported);
  EXPECT_FALSE(run.reason.empty());
}

TEST(PinnedMemory, EveryRecordingOfTheOriginalIsReproduced) {
  const fs::path corpus = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!fs::exists(corpus)) GTEST_SKIP() << "no recordings in " << corpus;
  int found = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("pinned_fuzz") || entry.path().extension() != ".pickle") continue;
    SCOPED_TRACE(name);
    const Recording recording = read_recording(entry.path(), {.host = true});
    expect_exact(verify(recording, recording.traces.at(0)));
    ++found;
  }
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace memreplay
