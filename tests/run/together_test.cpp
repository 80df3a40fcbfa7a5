#include "run/together.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/error.hpp"
#include "replay/contender.hpp"
#include "replay/trial.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

const std::filesystem::path kTraces = MEMREPLAY_TRACES;

Recording recorded(const std::string& name) { return read_recording((kTraces / name).string()); }

std::shared_ptr<const Subject> subject_of(const Recording& recording) {
  return std::make_shared<const Subject>(recording, recording.traces.front());
}

ReplayResult replayed(const Subject& subject, std::optional<Bytes> capacity = {}) {
  ReplayOptions options;
  options.device.capacity = capacity;
  return Trial(Contender(subject, usual_strategy(subject.recording())), options).run();
}

std::int64_t counter(const ReplayResult& result, std::string_view name) {
  for (const auto& [key, value] : result.metrics.counters) {
    if (key == name) return value;
  }
  return -1;
}

/// Each of the bundled traces with what a process needs: start, graphs, streams, other releases.
class OnOneDevice : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(OnOneDevice, WithoutALimitEachHoldsWhatItHoldsAlone) {
  const Recording first = recorded(GetParam().first);
  const Recording second = recorded(GetParam().second);
  const auto a = subject_of(first);
  const auto b = subject_of(second);
  for (const TogetherOrder order : {TogetherOrder::start, TogetherOrder::share}) {
    const MadeRecordings made = on_one_device({{a}, {b}}, order);
    const MadeRecording& both = made.likeliest;
    const Subject together(both.recording, both.trace(), both.origin);
    const ReplayResult result = replayed(together);
    EXPECT_EQ(result.metrics.allocs, replayed(*a).metrics.allocs + replayed(*b).metrics.allocs);
    EXPECT_EQ(counter(result, "process_1_peak_held_bytes"),
              static_cast<std::int64_t>(replayed(*a).metrics.peak_reserved));
    EXPECT_EQ(counter(result, "process_2_peak_held_bytes"),
              static_cast<std::int64_t>(replayed(*b).metrics.peak_reserved));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, OnOneDevice,
    testing::Values(std::pair("torch/gpt_step.pickle.gz", "torch/graph_pool.pickle"),
                    std::pair("torch/side_streams.pickle", "torch/pools_unnamed.pickle"),
                    std::pair("torch/expandable.pickle", "torch/layers_4.pickle"),
                    std::pair("torch/settings_at_run_time.pickle", "torch/layers_4.pickle"),
                    std::pair("torch/fragmentation.pickle", "torch/fragmentation.pickle")));

TEST(OnOneDevice, RecordedTimesOrderTheirEvents) {
  Recording first = recorded("torch/layers_4.pickle");
  Recording second = recorded("torch/layers_5.pickle");
  const std::int64_t begin = 1'000'000'000;
  std::iota(first.traces[0].times_us.begin(), first.traces[0].times_us.end(), begin);
  std::iota(second.traces[0].times_us.begin(), second.traces[0].times_us.end(), begin + 100);
  const MadeRecordings made = on_one_device({{subject_of(first)}, {subject_of(second)}}, {});
  EXPECT_EQ(made.likeliest.origin->shared->clock, "each at its recorded time");
  const std::vector<std::int64_t>& times = made.likeliest.trace().times_us;
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_LT(times.front(), begin + 100);
}

TEST(OnOneDevice, ADeviceThatIsLargeEnoughForEachAloneMayBeTooSmallForBoth) {
  const Recording recording = recorded("torch/gpt_step.pickle.gz");
  const auto subject = subject_of(recording);
  const Bytes alone = replayed(*subject).metrics.peak_reserved;
  EXPECT_EQ(replayed(*subject, alone).metrics.ooms, 0u);
  const MadeRecordings made = on_one_device({{subject}, {subject}}, TogetherOrder::share);
  const Subject both(made.likeliest.recording, made.likeliest.trace(), made.likeliest.origin);
  EXPECT_GT(replayed(both, alone).metrics.ooms, 0u);
  EXPECT_EQ(replayed(both, 2 * alone).metrics.ooms, 0u);
}

TEST(OnOneDevice, WhatIsOpenInOneIsOpenInAll) {
  const Recording changing = recorded("torch/settings_at_run_time.pickle");
  const Recording other = recorded("torch/layers_4.pickle");
  const auto subject = subject_of(changing);
  MadeRecordings made = on_one_device({{subject_of(other)}, {subject}}, TogetherOrder::share);
  Origin origin = *made.likeliest.origin;
  origin.why_inexact.clear();
  const Subject both(made.likeliest.recording, made.likeliest.trace(),
                     std::make_shared<const Origin>(origin));
  const auto why = [](const Subject& asked, const char* strategy) {
    return Contender(asked, parse_strategy(strategy)).why_inexact(false, {}, {});
  };
  EXPECT_EQ(why(both, "recorded"), "");
  EXPECT_EQ(why(both, "torch"), "in " + changing.path + " " + why(*subject, "torch"));
  EXPECT_NE(why(*subject, "torch"), "");
}

TEST(OnOneDevice, OneRecordingIsRefused) {
  const Recording recording = recorded("torch/layers_4.pickle");
  EXPECT_THROW(on_one_device({{subject_of(recording)}}, {}), UsageError);
}

}  // namespace
}  // namespace memreplay
