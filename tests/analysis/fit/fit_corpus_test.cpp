#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/fit/fit.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// Recordings of small devices, with what is known of how they went.
std::vector<fs::path> on_small_devices() {
  const fs::path corpus = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  std::vector<fs::path> paths;
  if (!fs::exists(corpus)) return paths;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".pickle" && name.find("-c") != std::string::npos) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

TEST(FitCorpus, ARecordingFitsTheDeviceOnWhichItRan) {
  const std::vector<fs::path> paths = on_small_devices();
  if (paths.empty()) GTEST_SKIP() << "no recordings beside this checkout";
  std::size_t ran = 0;
  std::size_t died = 0;
  std::size_t proven = 0;
  for (const fs::path& path : paths) {
    SCOPED_TRACE(path.filename().string());
    std::ifstream file(fs::path(path).replace_extension(".json"));
    const nlohmann::json sidecar = nlohmann::json::parse(file);
    const Recording recording = read_recording(path.string());
    const Subject subject(recording, recording.traces.at(0));
    if (subject.verified()->verdict != Verdict::exact) continue;
    FitOptions options;
    options.budget = 1'000'000;
    options.trial.device.capacity = sidecar.at("capacity_mib").get<Bytes>() * kMiB;
    options.trial.device.reserve = sidecar.at("context_mib").get<Bytes>() * kMiB;
    const Fit fit = memreplay::fit(subject, parse_strategy("recorded"), options).fit;
    const bool went_through = subject.trace().coverage.complete &&
                              sidecar.at("memory_stats").at("num_ooms").get<int>() == 0;
    EXPECT_EQ(fit.given->fits, went_through);
    ASSERT_TRUE(fit.smallest);
    (went_through ? ran : died) += 1;
    proven += fit.proven_smallest();
    if (went_through) {
      EXPECT_LE(fit.smallest, options.trial.device.capacity);
    } else if (*fit.smallest <= *options.trial.device.capacity) {
      // A smaller device would have done: a retry there goes another way.
      EXPECT_GE(fit.fails_again, options.trial.device.capacity);
    }
  }
  EXPECT_GT(ran, 30u);
  EXPECT_GT(died, 10u);
  EXPECT_GT(proven, 40u);
}

}  // namespace
}  // namespace memreplay
