#include "run/cost_profile.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "device/cost_model.hpp"

namespace memreplay {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_cost_profile("p.json", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(CostProfile, TheModelCostsTheMedians) {
  const CostModel model = parse_cost_profile("p.json", R"({
      "schema": "memreplay-profile/1", "device": {}, "calls": {
        "alloc": {"sizes": [{"bytes": 1024, "p50_ms": 1}, {"bytes": 3072, "p50_ms": 2}]},
        "free": {"sizes": [{"bytes": 1024, "p50_ms": 0.5}]},
        "map": {"sizes": []}, "unmap": {"sizes": []}}})");
  EXPECT_DOUBLE_EQ(model.alloc.ms(2048), 1.5);
  EXPECT_DOUBLE_EQ(model.free.ms(kGiB), 0.5);
  EXPECT_DOUBLE_EQ(model.map.ms(kMiB), 0);
}

TEST(CostProfile, EveryComplaintNamesItsPlace) {
  EXPECT_EQ(error_of("{"),
            "p.json:1:2: is not JSON here; expected a profile as calibrate writes it");
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

}  // namespace
}  // namespace memreplay
