#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "run/late_start/late_start.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Tally {
  int truths = 0;
  int inside = 0;
  std::vector<double> errors;
};

// What the original reserved in the same window when the whole program ran under other settings.
void judge(const fs::path& path, Tally& tally) {
  std::ifstream file(fs::path(path).replace_extension(".json"));
  const Json sidecar = Json::parse(file);
  const Recording recording = read_recording(path.string());
  const Subject subject(recording, recording.traces.at(0));
  const WarmStart warm(subject, {});
  for (const Json& truth : sidecar.at("truths")) {
    if (!truth.at("ended_by_oom").is_null() || !truth.value("reached_window", true)) continue;
    if (truth.at("config") == sidecar.at("config")) continue;
    const SimulatedDeviceOptions device{.capacity = truth.at("capacity_mib").get<Bytes>() * kMiB};
    const StrategySpec spec =
        under_release(torch_spec_from_conf(truth.at("config").get<std::string>()), "2.15.0");
    const auto estimate = warm.estimate(Contender(subject, spec), device);
    ASSERT_TRUE(estimate);
    const auto reserved = truth.at("reserved_peak_in_window").get<Bytes>();
    const Estimated& peak = estimate->peak_reserved;
    ++tally.truths;
    tally.inside += peak.interval.low <= reserved && reserved <= peak.interval.high;
    tally.errors.push_back(
        std::abs(static_cast<double>(peak.value) / static_cast<double>(reserved) - 1));
  }
}

TEST(WarmStartCorpus, TruthsOfTheOriginalLieInTheIntervals) {
  const fs::path corpus = fs::path(MEMREPLAY_SHARED) / "corpus/warm";
  if (!fs::exists(corpus)) GTEST_SKIP() << "no recordings beside this checkout";
  Tally tally;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    if (entry.path().extension() == ".pickle") judge(entry.path(), tally);
  }
  EXPECT_GE(tally.truths, 25);
  EXPECT_GE(tally.inside * 100, tally.truths * 95);
  std::ranges::sort(tally.errors);
  EXPECT_LE(tally.errors[tally.errors.size() / 2], .06);
}

}  // namespace
}  // namespace memreplay
