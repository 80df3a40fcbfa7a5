#include "analysis/late_start/late_start.hpp"

#include <gtest/gtest.h>

#include "analysis/late_start/late_recording.hpp"
#include "replay/trial.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

class LateStarts : public testing::Test {
 protected:
  LateStarts()
      : whole_(read_recording(MEMREPLAY_TRACES "/torch/layers_5.pickle")),
        cut_(begun_late(whole_, whole_.traces.at(0).size() / 2)),
        subject_(cut_, cut_.traces.at(0)) {}

  std::optional<WarmEstimate> instead_of(const StrategySpec& spec,
                                         const ReplayOptions& replaying = {}) const {
    Trial trial(subject_, spec, {});
    const LateStart late(subject_, replaying);
    return late.instead_of(trial.run(replaying), spec, {});
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
