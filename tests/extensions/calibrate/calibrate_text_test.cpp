#include <gtest/gtest.h>

#include "device/cost_model.hpp"
#include "extensions/calibrate/answer.hpp"
#include "extensions/calibrate/calibrate_report.hpp"
#include "run/cost_profile.hpp"

namespace memreplay {
namespace {

CalibrateAnswer two_sizes() {
  Calibration calibration;
  Durations short_times;
  short_times.add(60);
  Durations long_times;
  long_times.add(40'000'000);
  calibration.alloc = {{{2 * kMiB, short_times}, {4 * kMiB, long_times}}, true};
  calibration.free = {{{2 * kMiB, short_times}}, false};
  return {RealMemoryFacts{.kind = "cuda", .name = "a card"}, calibration};
}

TEST(CalibrateReport, TheProfileIsReadBackAsTheMedians) {
  const CostModel model = parse_cost_profile("p.json", to_json(two_sizes()));
  EXPECT_DOUBLE_EQ(model.alloc.ms(2 * kMiB), 60e-6);
  EXPECT_NEAR(model.alloc.ms(4 * kMiB), 40, 40.0 / 64);
  EXPECT_DOUBLE_EQ(model.free.ms(kGiB), 60e-6);
  EXPECT_DOUBLE_EQ(model.map.ms(kMiB), 0);
}

TEST(CalibrateReport, SaysWhoWaits) {
  const std::string text = to_text(two_sizes(), {});
  EXPECT_NE(text.find(" Waits for the work of the device: alloc.\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" Returns while it goes on: free.\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace memreplay
