#include "report/cost_profile.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay {
namespace {

Calibration two_sizes() {
  Calibration calibration;
  Durations short_times;
  short_times.add(60);
  Durations long_times;
  long_times.add(40'000'000);
  calibration.alloc = {{{2 * kMiB, short_times}, {4 * kMiB, long_times}}, true};
  calibration.free = {{{2 * kMiB, short_times}}, false};
  return calibration;
}

constexpr auto kDevice = [] { return RealMemoryFacts{.kind = "cuda", .name = "a card"}; };

std::string error_of(const std::string& text) {
  try {
    parse_cost_profile("p.json", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(CostProfile, WhatIsWrittenIsReadBackAsTheMedians) {
  const CostModel model = parse_cost_profile("p.json", cost_profile_text(kDevice(), two_sizes()));
  EXPECT_DOUBLE_EQ(model.alloc.ms(2 * kMiB), 60e-6);
  EXPECT_NEAR(model.alloc.ms(4 * kMiB), 40, 40.0 / 64);
  EXPECT_DOUBLE_EQ(model.free.ms(kGiB), 60e-6);
  EXPECT_DOUBLE_EQ(model.map.ms(kMiB), 0);
}

TEST(CostProfile, EveryComplaintNamesItsPlace) {
  EXPECT_EQ(error_of("{"),
            "p.json:1:2: is no JSON here; expected a profile as calibrate writes it");
  EXPECT_NE(error_of(R"({"schema": "memreplay-profile/2", "device": {}, "calls": {}})")
                .find("p.json: schema: is \"memreplay-profile/2\"; expected"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"schema": "memreplay-profile/1", "device": {}, "calls": {"aloc": 1}})")
                .find("unknown key 'aloc'; did you mean 'alloc'?"),
            std::string::npos);
  const std::string descending =
      R"({"schema": "memreplay-profile/1", "device": {}, "calls": {"alloc": {"sizes": [
          {"bytes": 2, "p50_ms": 1}, {"bytes": 1, "p50_ms": 1}]}}})";
  EXPECT_NE(error_of(descending).find("calls.alloc.sizes[1].bytes: is 1; expected more than"),
            std::string::npos);
}

TEST(CalibrationText, SaysWhoWaits) {
  const std::string text = calibration_text(kDevice(), two_sizes());
  EXPECT_NE(text.find(" Waits for the work of the device: alloc.\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" Returns while it goes on: free.\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace memreplay
