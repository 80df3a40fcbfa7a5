#include "run/late_start/late_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "replay/trial.hpp"
#include "run/late_start/late_recording.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

const Recording& layers() {
  static const Recording recording = read_recording(MEMREPLAY_TRACES "/torch/layers_5.pickle");
  return recording;
}

/// The event before which the program has made this share of its requests.
std::size_t after_requests(const Recording& recording, double share) {
  const Trace& trace = recording.traces.at(0);
  const auto all = std::ranges::count(trace.ops, Op::allocate);
  auto left = static_cast<std::int64_t>(share * static_cast<double>(all));
  std::size_t event = 0;
  while (left > 0) left -= trace.ops[event++] == Op::allocate;
  return event;
}

StrategySpec torch(const std::string& conf) { return torch_spec_from_conf(conf); }

TEST(WarmStart, TheTruthOfACutRecordingLiesInItsInterval) {
  const Subject whole(layers(), layers().traces.at(0));
  for (const double share : {.3, .5, .7}) {
    const std::size_t event = after_requests(layers(), share);
    const Recording cut = begun_late(layers(), event);
    const Subject subject(cut, cut.traces.at(0));
    const WarmStart warm(subject, {});
    for (const char* conf : {"expandable_segments:True", "max_split_size_mb:20",
                             "roundup_power2_divisions:4", "large_segment_size_mb:64"}) {
      SCOPED_TRACE(conf);
      Trial truth(Contender(whole, torch(conf)), {.measuring = {.from = event}});
      const RunMetrics true_metrics = truth.run().metrics;
      const auto estimate = warm.estimate(Contender(subject, torch(conf)), {});
      ASSERT_TRUE(estimate);
      const auto& peak = estimate->peak_reserved;
      EXPECT_LE(peak.interval.low, true_metrics.peak_reserved);
      EXPECT_GE(peak.interval.high, true_metrics.peak_reserved);
      EXPECT_LE(peak.interval.low, peak.value);
      EXPECT_GE(peak.interval.high, peak.value);
    }
  }
}

TEST(WarmStart, StepsLikeThoseRecordedAreSteady) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  EXPECT_EQ(warm.earlier_steps().kind, WarmKind::steady);
  EXPECT_EQ(warm.earlier_steps().largest, 1);
}

TEST(WarmStart, AModelThatWasJustBuiltIsFresh) {
  const Recording cut = begun_late(layers(), 30);
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  EXPECT_EQ(warm.earlier_steps().kind, WarmKind::fresh);
  EXPECT_EQ(warm.earlier_steps().largest, 0);
}

TEST(WarmStart, NothingIsEstimatedBelowWhatIsAllocatedOrAboveTheDevice) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  const SimulatedDeviceOptions device{.capacity = 460 * kMiB};
  const auto estimate = warm.estimate(Contender(subject, torch("")), device);
  EXPECT_LE(estimate->peak_reserved.interval.high, 460 * kMiB);
  EXPECT_GE(estimate->peak_reserved.interval.low, 380 * kMiB);
}

TEST(WarmStart, TheReplayThatIsShownBeginsAsTheNearestGuess) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  const StrategySpec spec = torch("expandable_segments:True");
  const auto estimate = warm.estimate(Contender(subject, spec), {});
  Trial trial(Contender(subject, spec),
              {.begin_with = warm.beginning(estimate->nearest), .audit = true});
  const ReplayResult result = trial.run();
  EXPECT_FALSE(result.started_exact);
  EXPECT_EQ(result.metrics.events, cut.traces[0].size());
  const auto shown = static_cast<double>(result.metrics.peak_reserved);
  EXPECT_NEAR(shown, static_cast<double>(estimate->peak_reserved.value), .2 * shown);
}

TEST(WarmStart, ADeviceThatIsTooSmallDoesNotFit) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  EXPECT_FALSE(warm.estimate(Contender(subject, torch("")), {.capacity = 300 * kMiB})->fits);
  EXPECT_TRUE(warm.estimate(Contender(subject, torch("")), {.capacity = 1000 * kMiB})->fits);
}

TEST(WarmStart, WhereItDoesNotFitTheReplayThatIsShownRunsOutOfMemoryToo) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  const SimulatedDeviceOptions device{.capacity = 300 * kMiB};
  const auto estimate = warm.estimate(Contender(subject, torch("")), device);
  EXPECT_GE(estimate->ooms, 1u);
  EXPECT_EQ(warm.estimate(Contender(subject, torch("")), {.capacity = 1000 * kMiB})->ooms, 0u);
  Trial trial(Contender(subject, torch("")),
              {.begin_with = warm.beginning(estimate->nearest), .device = device});
  const RunMetrics shown = trial.run().metrics;
  EXPECT_GE(shown.ooms, 1u);
  EXPECT_LE(shown.peak_allocated, 300 * kMiB);
}

TEST(WarmStart, AnAllocatorThatKeepsNothingReservesNothingAtTheEnd) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  const auto estimate = warm.estimate(Contender(subject, parse_strategy("direct")), {});
  EXPECT_LE(estimate->end_reserved.interval.high, estimate->peak_reserved.interval.high);
  EXPECT_LE(estimate->end_reserved.value, estimate->peak_reserved.value);
}

TEST(WarmStart, NothingIsEstimatedAboveALimitOfTheAllocator) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  const auto estimate = warm.estimate(Contender(subject, torch("per_process_memory_fraction:0.5")),
                                      {.capacity = 900 * kMiB});
  EXPECT_LE(estimate->peak_reserved.interval.high, 450 * kMiB);
}

TEST(WarmStart, AStrategyThatFollowsAPlanIsNotEstimated) {
  const Recording cut = begun_late(layers(), after_requests(layers(), .6));
  const Subject subject(cut, cut.traces.at(0));
  const WarmStart warm(subject, {});
  EXPECT_FALSE(warm.estimate(Contender(subject, parse_strategy("plan")), {}));
  EXPECT_FALSE(warm.estimate(Contender(subject, parse_strategy("offload(torch)")), {}));
  EXPECT_TRUE(warm.estimate(Contender(subject, parse_strategy("bfc")), {}));
}

class LateStarts : public testing::Test {
 protected:
  LateStarts()
      : whole_(read_recording(MEMREPLAY_TRACES "/torch/layers_5.pickle")),
        cut_(begun_late(whole_, whole_.traces.at(0).size() / 2)),
        subject_(cut_, cut_.traces.at(0)) {}

  std::optional<WarmEstimate> instead_of(const StrategySpec& spec,
                                         const ReplayOptions& replaying = {}) const {
    const Contender contender(subject_, spec);
    const LateStart late(subject_, replaying);
    return late.instead_of(replay(contender, replaying).result, contender, {});
  }

  Recording whole_;
  Recording cut_;
  Subject subject_;
};

TEST_F(LateStarts, UnderItsOwnSettingsNothingStandsInsteadOfTheReplay) {
  EXPECT_FALSE(instead_of(parse_strategy("recorded")));
}

TEST_F(LateStarts, UnderOthersAnEstimateDoes) {
  const auto estimate = instead_of(torch_spec_from_conf("expandable_segments:True"));
  ASSERT_TRUE(estimate);
  EXPECT_LT(estimate->peak_reserved.interval.low, estimate->peak_reserved.interval.high);
}

TEST_F(LateStarts, AColdReplayIsTakenAsItIs) {
  EXPECT_FALSE(instead_of(torch_spec_from_conf("expandable_segments:True"),
                          {.program = {.start = StartMode::cold}}));
}

TEST_F(LateStarts, ARecordingFromTheStartHasNone) {
  const Subject subject(whole_, whole_.traces.at(0));
  EXPECT_FALSE(LateStart(subject, {}).applies());
}

}  // namespace

}  // namespace memreplay
