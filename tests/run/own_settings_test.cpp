#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/error.hpp"
#include "run/late_start/late_recording.hpp"
#include "run/run.hpp"
#include "trace/reader.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// What a run comes to.
struct Figures {
  Bytes peak_reserved = 0;
  Bytes end_reserved = 0;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t ooms = 0;
  std::vector<std::pair<Address, Bytes>> segments;  ///< at the end

  friend bool operator==(const Figures&, const Figures&) = default;
};

std::string text_of(const Figures& f) {
  return fmt::format(
      "peak {}, end {}, {} allocs, {} frees, {} maps, {} unmaps, {} OOMs, {} segments",
      f.peak_reserved, f.end_reserved, f.allocs, f.frees, f.maps, f.unmaps, f.ooms,
      f.segments.size());
}

std::vector<std::pair<Address, Bytes>> ranges(const MemoryState& state) {
  std::vector<std::pair<Address, Bytes>> found;
  for (const SegmentInfo& segment : state.segments) {
    found.emplace_back(segment.address, segment.size);
  }
  return found;
}

/// By its events and its last state alone.
Figures recorded_figures(const Trace& trace) {
  Figures figures;
  RecordedLevels levels(trace);
  const auto count = [&](Op op) {
    return static_cast<std::uint64_t>(std::ranges::count(trace.ops, op));
  };
  for (std::size_t i = 0; i < trace.size(); ++i) levels.play(i);
  figures.peak_reserved = levels.peaks().reserved().reserved;
  figures.end_reserved = reserved_bytes(trace.end);
  figures.allocs = count(Op::segment_alloc);
  figures.frees = count(Op::segment_free);
  figures.maps = count(Op::segment_map);
  figures.unmaps = count(Op::segment_unmap);
  figures.ooms = count(Op::oom);
  figures.segments = ranges(trace.end);
  return figures;
}

class EndWatcher final : public Watcher {
 public:
  void on_run(const Subject&, const Trial&, WatcherGroup&) override {}
  void on_run_end(const Trial& trial) override {
    segments = ranges(trial.strategy().memory_state());
  }

  std::vector<std::pair<Address, Bytes>> segments;
};

memreplay::Run run_recorded(const Subject& subject, const Setup& setup, EndWatcher* end = nullptr) {
  const Control control;
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return run(subject, parse_strategy("recorded"), simulated(sized_for(subject, setup)), setup, late,
             end, control);
}

Figures figures_of(const memreplay::Run& run, const EndWatcher& end) {
  const RunMetrics& m = run.metrics;
  return {m.peak_reserved, m.end_reserved,  m.device_allocs, m.device_frees,
          m.device_maps,   m.device_unmaps, m.ooms,          end.segments};
}

/// How many answers of a folder are exact, and which are not as they should be.
struct Tally {
  int exact = 0;
  int inexact = 0;
  std::vector<std::string> wrong;
};

void look_at(const fs::path& path, Tally& tally) {
  const Recording recording = read_recording(path.string());
  for (const Trace& trace : recording.traces) {
    const Subject subject(recording, trace);
    if (subject.verified() == nullptr) continue;
    const VerifyResult& verified = *subject.verified();
    if (verified.verdict == Verdict::unsupported) continue;
    EndWatcher end;
    const memreplay::Run run = run_recorded(subject, {}, &end);
    const std::string name = fmt::format("{} gpu {}", path.filename().string(), trace.gpu);
    const bool expected = verified.verdict == Verdict::exact;
    run.exact ? ++tally.exact : ++tally.inexact;
    if (run.exact != expected || run.exact != run.inexact_because.empty()) {
      tally.wrong.push_back(name + ": verify says " + std::string(name_of(verified.verdict)) +
                            ", not exact here because " + run.inexact_because);
    }
    const Figures own = recorded_figures(trace);
    const Figures here = figures_of(run, end);
    if (run.exact && here != own) {
      tally.wrong.push_back(name + ": " + text_of(here) + "; recorded " + text_of(own));
    }
  }
}

Tally look_at_all(const fs::path& folder) {
  Tally tally;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".pickle") && !name.ends_with(".pickle.gz")) continue;
    try {
      look_at(entry.path(), tally);
    } catch (const InputError&) {
      continue;  // not a recording
    }
  }
  return tally;
}

class EveryRecording : public testing::TestWithParam<const char*> {};

TEST_P(EveryRecording, UnderItsOwnSettingsComesToItsOwnFiguresWhereThatIsCalledExact) {
  const std::string name = GetParam();
  const fs::path folder =
      name == "traces" ? fs::path(MEMREPLAY_TRACES) : fs::path(MEMREPLAY_SHARED) / "corpus" / name;
  if (!fs::exists(folder)) GTEST_SKIP() << "no recordings in " << folder;
  const Tally tally = look_at_all(folder);
  EXPECT_GT(tally.exact, 0);
  EXPECT_TRUE(tally.wrong.empty()) << testing::PrintToString(tally.wrong);
}

INSTANTIATE_TEST_SUITE_P(, EveryRecording,
                         testing::Values("traces", "torch", "real", "warm", "program"),
                         [](const auto& param) { return std::string(param.param); });

Recording bundled(const std::string& name) {
  return read_recording(fs::path(MEMREPLAY_TRACES) / "torch" / name);
}

// A recording of 2.6, whose choice among equal free blocks goes by address.
TEST(OwnSettings, OnOtherAddressesWhereTheyDecideIsNotCalledTheRecording) {
  const Recording recording = bundled("ties_by_address.pickle");
  const Subject subject(recording, recording.traces.front());
  const memreplay::Run own = run_recorded(subject, {});
  EXPECT_TRUE(own.exact);
  EXPECT_EQ(own.metrics.peak_reserved, 350 * kMiB);
  EXPECT_EQ(run_recorded(subject, {.address_policy = AddressPolicy::upward}).metrics.peak_reserved,
            366 * kMiB);
}

TEST(OwnSettings, ADeviceThatChangesNothingLeavesTheRecordingAsItWas) {
  const Recording recording = bundled("ties_by_address.pickle");
  const Subject subject(recording, recording.traces.front());
  for (const Bytes capacity : {350 * kMiB, 80 * kGiB}) {
    const memreplay::Run run = run_recorded(subject, {.capacity = capacity});
    EXPECT_TRUE(run.exact) << run.inexact_because;
    EXPECT_EQ(run.metrics.peak_reserved, 350 * kMiB);
  }
  const memreplay::Run smaller = run_recorded(subject, {.capacity = 330 * kMiB});
  EXPECT_FALSE(smaller.exact);
  EXPECT_NE(smaller.inexact_because.find("on its device differs from the recorded one"),
            std::string::npos)
      << smaller.inexact_because;
}

// One of 2.15, whose choices do not depend on addresses.
TEST(OwnSettings, OnALargerDeviceARecordedFailureIsNoneAndStillExact) {
  const Recording recording = bundled("gpt_train_oom.pickle");
  const Subject subject(recording, recording.traces.front());
  const memreplay::Run own = run_recorded(subject, {});
  EXPECT_EQ(own.metrics.ooms, 1u);
  ASSERT_TRUE(own.metrics.first_oom);
  EXPECT_EQ(own.metrics.peak_reserved, 4568 * kMiB);
  const memreplay::Run larger = run_recorded(subject, {.capacity = 80 * kGiB});
  EXPECT_EQ(larger.metrics.ooms, 0u);
  EXPECT_EQ(larger.metrics.peak_reserved, 5328 * kMiB);
  EXPECT_TRUE(larger.exact) << larger.inexact_because;
}

// Settings that are not those under which it was recorded, so that the model departs from it.
TEST(OwnSettings, WhereTheModelDepartsAnIntervalHoldsTheRecordedPeak) {
  int departed = 0;
  for (const char* name : {"torch/side_streams.pickle", "torch/layers_4.pickle"}) {
    const Recording whole = read_recording(std::string(MEMREPLAY_TRACES) + "/" + name);
    for (const std::size_t part : {0u, 3u, 5u}) {
      Recording late = begun_late(whole, whole.traces.at(0).size() * part / 10);
      late.settings.max_split_size = 21 * kMiB;
      const Subject subject(late, late.traces.at(0));
      const memreplay::Run run = run_recorded(subject, {.endless = true});
      const Figures recorded = recorded_figures(late.traces[0]);
      if (run.exact) continue;
      const Bytes peak = run.metrics.peak_reserved;
      const BytesInterval within =
          run.interval ? run.interval->peak_reserved : BytesInterval{peak, peak};
      EXPECT_LE(within.low, recorded.peak_reserved) << name << " " << part;
      EXPECT_GE(within.high, recorded.peak_reserved) << name << " " << part;
      departed += peak != recorded.peak_reserved;
    }
  }
  EXPECT_GT(departed, 0);
}

}  // namespace
}  // namespace memreplay
