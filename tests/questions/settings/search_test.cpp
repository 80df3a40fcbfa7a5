#include "questions/settings/search.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>
#include <tuple>

#include "replay/trial.hpp"
#include "strategy/torch/lint.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

// Requests of up to 100 MiB that come and go.
Recording random_recording(unsigned seed, int events) {
  std::mt19937 random(seed);
  RecordingWriter writer;
  std::vector<Slot> live;
  Slot next = 0;
  for (int i = 0; i < events; ++i) {
    if (!live.empty() && (live.size() > 40 || random() % 5 < 2)) {
      std::swap(live[random() % live.size()], live.back());
      writer.free(live.back());
      live.pop_back();
    } else {
      writer.alloc(next, Bytes{1} << (9 + random() % 17) << (random() % 2) | random() % 5000);
      live.push_back(next++);
    }
  }
  return writer.recording();
}

TuneOptions plain_options(std::uint64_t runs) {
  TuneOptions options;
  options.bench = {{}, {{}}, {false}};
  options.runs = runs;
  return options;
}

TuneResult tuned(const Recording& recording, TuneOptions options) {
  const Subject subject(recording, recording.traces[0]);
  options.bench.subjects = {&subject};
  return tune(options);
}

RunMetrics replayed(const Recording& recording, const std::string& conf,
                    const SimulatedDeviceOptions& device = {}) {
  const Subject subject(recording, recording.traces[0]);
  return Trial(Contender(subject, torch_spec_from_conf(conf)), {.device = device}).run().metrics;
}

using Figures = std::tuple<Bytes, std::uint64_t, std::uint64_t, std::uint64_t>;
Figures figures(const RunMetrics& m) {
  return {m.peak_reserved, m.ooms, m.oom_retries,
          m.device_allocs + m.device_frees + m.device_maps + m.device_unmaps};
}

class TuneOnRandomRecordings : public testing::TestWithParam<unsigned> {};

TEST_P(TuneOnRandomRecordings, EveryOutcomeOfEverySplitSizeIsFound) {
  const Recording recording = random_recording(GetParam(), 1500);
  TuneOptions options = plain_options(1000);
  options.bench.devices[0].capacity = replayed(recording, "").peak_reserved * 9 / 10;
  const TuneResult result = tuned(recording, options);
  ASSERT_TRUE(result.every_split_size);
  std::set<Figures> found;
  for (const TuneOutcome& outcome : result.outcomes) found.insert(figures(outcome.runs[0].metrics));
  for (int mb = 20; mb < 140; ++mb) {
    const std::string conf = "max_split_size_mb:" + std::to_string(mb);
    EXPECT_TRUE(found.contains(figures(replayed(recording, conf, options.bench.devices[0]))))
        << conf;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TuneOnRandomRecordings, testing::Range(0u, 4u));

TEST(Tune, WhatASettingLeavesUndecidedIsNotReplayedAgain) {
  RecordingWriter writer;
  writer.alloc(0, 30 * kMiB).free(0);
  for (Slot slot = 1; slot < 9; ++slot) writer.alloc(slot, 3 * kMiB);
  TuneOptions options = plain_options(8);
  options.forbidden = {"expandable_segments", "max_split_size_mb", "roundup_power2_divisions"};
  const TuneResult result = tuned(writer.recording(), options);
  EXPECT_EQ(result.tried, 8u);
  EXPECT_EQ(result.replayed, 1u);  // all that is asked for lies in the first segment
  ASSERT_EQ(result.outcomes.size(), 1u);
  EXPECT_EQ(result.outcomes[0].settings.size(), 8u);
}

TEST(Tune, NoSettingIsReplayedTwice) {
  std::mt19937 random(1);
  RecordingWriter writer;
  for (Slot slot = 0; slot < 600; ++slot) {  // few sizes of a limit are left at the end
    writer.alloc(slot, 20 * kMiB + random() % (20 * kMiB));
    if (slot >= 40) writer.free(slot - 40);
  }
  TuneOptions options = plain_options(1000);
  options.forbidden = {"expandable_segments", "large_segment_size_mb", "roundup_power2_divisions"};
  const TuneResult result = tuned(writer.recording(), options);
  EXPECT_LE(result.replayed, result.tried);
}

TEST(Tune, FightingOptionsAreNotCombined) {
  const Recording recording =
      read_recording(std::string(MEMREPLAY_TRACES) + "/torch/split_expandable.pickle");
  const TuneResult result = tuned(recording, plain_options(500));
  for (const TuneOutcome& outcome : result.outcomes) {
    for (const Setting& setting : outcome.settings) {
      EXPECT_FALSE(setting.expandable_segments && setting.max_split_size_mb != 0);
    }
  }
}

TEST(Tune, WhatServesTheRefusedRequestIsRecommended) {
  const Recording recording =
      read_recording(std::string(MEMREPLAY_TRACES) + "/torch/gpt_train_oom.pickle");
  TuneOptions options = plain_options(200);
  options.bench.devices[0].capacity = 5226 * kMiB;
  const TuneResult result = tuned(recording, options);
  EXPECT_TRUE(result.helps);
  EXPECT_EQ(conf_of(result.outcomes[result.best].settings.front(), {}), "expandable_segments:True");
  EXPECT_EQ(result.outcomes[result.best].runs[0].metrics.peak_reserved, 5184 * kMiB);
  EXPECT_EQ(result.baseline_outcome.runs[0].metrics.ooms, 1u);
}

TEST(Tune, WhereAllSettingsComeToTheSameNothingHelps) {
  const Recording recording = RecordingWriter().alloc(0, 40 * kMiB).free(0).recording();
  const TuneResult result = tuned(recording, plain_options(100));
  EXPECT_FALSE(result.helps);
  EXPECT_EQ(result.outcomes[result.best].settings.front(), Setting{});
}

TEST(Tune, AForbiddenOptionKeepsItsDefault) {
  TuneOptions options = plain_options(200);
  options.forbidden = {"expandable_segments", "max_split_size_mb"};
  for (const TuneOutcome& outcome : tuned(random_recording(1, 300), options).outcomes) {
    for (const Setting& setting : outcome.settings) {
      EXPECT_FALSE(setting.expandable_segments);
      EXPECT_EQ(setting.max_split_size_mb, 0u);
    }
  }
}

TEST(Tune, SeveralTracesGetOneSettingForAll) {
  const Recording a = random_recording(1, 400);
  const Recording b = random_recording(2, 400);
  const Subject first(a, a.traces[0]);
  const Subject second(b, b.traces[0]);
  TuneOptions options = plain_options(60);
  options.bench = {{&first, &second}, {{}, {}}, {false, false}};
  const TuneResult result = tune(options);
  const std::string conf = conf_of(result.outcomes.front().settings.front(), {});
  EXPECT_EQ(figures(result.outcomes.front().runs[0].metrics), figures(replayed(a, conf)));
  EXPECT_EQ(figures(result.outcomes.front().runs[1].metrics), figures(replayed(b, conf)));
}

TEST(Tune, CancelledAtOnceItFoundNothing) {
  const std::atomic<bool> cancelled = true;
  TuneOptions options = plain_options(100);
  options.replaying.stops.cancelled = &cancelled;
  const TuneResult result = tuned(random_recording(1, 300), options);
  EXPECT_TRUE(result.outcomes.empty());
  EXPECT_FALSE(result.finished);
}

TEST(Tune, EveryReleaseReadsEverySettingTriedForIt) {
  const Recording recording = random_recording(3, 200);
  for (int minor = 0; minor <= torch::kNewestRelease.minor; ++minor) {
    TuneOptions options = plain_options(120);
    options.release = "2." + std::to_string(minor);
    const TuneResult result = tuned(recording, options);
    for (const TuneOutcome& outcome : result.outcomes) {
      for (const Setting& setting : outcome.settings) {
        const std::string conf = conf_of(setting, {});
        for (const SettingIssue& issue : lint_settings(conf, options.release)) {
          EXPECT_NE(issue.severity, SettingIssue::Severity::error)
              << options.release << ' ' << conf << ": " << issue.text;
        }
      }
    }
  }
}

TEST(Tune, OptionsAreThoseOfTheReleaseThatARecordingShows) {
  Recording recording = random_recording(3, 200);
  recording.settings.oldest_release = "2.8";
  const TuneResult result = tuned(recording, plain_options(60));
  EXPECT_EQ(result.release, "2.8.0");
  for (const TuneOutcome& outcome : result.outcomes) {
    for (const Setting& setting : outcome.settings) EXPECT_EQ(setting.large_segment_size_mb, 0u);
  }
}

TEST(Tune, TheLineToPasteNamesAVariableThatTheReleaseReads) {
  Recording recording = random_recording(3, 200);
  recording.settings.conf_variable = "PYTORCH_ALLOC_CONF";
  TuneOptions options = plain_options(10);
  options.release = "2.9.1";
  EXPECT_EQ(tuned(recording, options).variable, "PYTORCH_CUDA_ALLOC_CONF");
  options.release = "2.10.0";
  EXPECT_EQ(tuned(recording, options).variable, "PYTORCH_ALLOC_CONF");
}

TEST(Tune, OfAnotherDeviceOnlyTheOptionsThatItsAllocatorReadsAreTried) {
  Recording recording = random_recording(3, 200);
  recording.settings.conf_variable = "PYTORCH_NPU_ALLOC_CONF";
  const TuneResult result = tuned(recording, plain_options(60));
  EXPECT_EQ(result.variable, "PYTORCH_NPU_ALLOC_CONF");
  for (const TuneOutcome& outcome : result.outcomes) {
    for (const Setting& setting : outcome.settings) {
      EXPECT_EQ(setting, (Setting{.expandable_segments = setting.expandable_segments,
                                  .max_split_size_mb = setting.max_split_size_mb}));
    }
  }
}

TEST(Tune, SegmentsThatExpandAlreadyAreTheBaseline) {
  Recording recording = random_recording(3, 200);
  recording.settings.expandable_segments = true;
  const TuneResult result = tuned(recording, plain_options(10));
  EXPECT_EQ(result.baseline, "torch:expandable_segments=True");
  EXPECT_EQ(result.baseline_conf, "expandable_segments:True");
}

TEST(Tune, WhatIsLiveBesideARequestMayBeMoreThanThereIs) {
  const Recording recording =
      RecordingWriter().alloc(0, 60 * kMiB).alloc(1, 50 * kMiB).free(0).free(1).recording();
  TuneOptions options = plain_options(30);
  options.bench.devices[0].capacity = 100 * kMiB;
  const TuneResult result = tuned(recording, options);
  ASSERT_TRUE(result.shortage);
  EXPECT_EQ(result.shortage->event, 1u);
  EXPECT_EQ(result.shortage->live, 60 * kMiB);
  EXPECT_EQ(result.shortage->requested, 50 * kMiB);
  EXPECT_FALSE(result.helps);
}

TEST(Tune, WhatWasLiveWhenItWasRecordedFitsUnderNoSetting) {
  // What fails first frees room for what comes later: only the recording shows that it is too much.
  const Recording recording =
      RecordingWriter().alloc(0, 70 * kMiB).alloc(1, 20 * kMiB).alloc(2, 50 * kMiB).recording();
  TuneOptions options = plain_options(30);
  options.bench.devices[0].capacity = 120 * kMiB;
  const TuneResult result = tuned(recording, options);
  ASSERT_TRUE(result.shortage);
  EXPECT_EQ(result.shortage->event, 2u);
  EXPECT_EQ(result.shortage->live + result.shortage->requested, 140 * kMiB);
}

TEST(Tune, NoSettingHelpsWhereNoneServesEveryRequest) {
  // Each block takes 512 B, whatever the setting.
  RecordingWriter writer;
  for (Slot slot = 0; slot <= 4096; ++slot) writer.alloc(slot, 300);
  const Recording recording = writer.recording();
  TuneOptions options = plain_options(200);
  options.bench.devices[0].capacity = 2 * kMiB;
  const TuneResult result = tuned(recording, options);
  EXPECT_FALSE(result.shortage);
  EXPECT_TRUE(result.none_serves);
  EXPECT_FALSE(result.helps);
}

TEST(Tune, WhereTheDeviceWasFullRetriesCountFirst) {
  const Recording recording = random_recording(5, 800);
  TuneOptions options = plain_options(20);
  EXPECT_EQ(tuned(recording, options).objective, Objective::reserved);
  options.bench.devices[0].capacity = replayed(recording, "").peak_reserved * 9 / 10;
  EXPECT_EQ(tuned(recording, options).objective, Objective::full_device);
  options.objective = Objective::reserved;
  EXPECT_EQ(tuned(recording, options).objective, Objective::reserved);
}

}  // namespace
}  // namespace memreplay
