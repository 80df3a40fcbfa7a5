#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "questions/fit/fit.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

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
    options.replaying.device.capacity = sidecar.at("capacity_mib").get<Bytes>() * kMiB;
    options.replaying.device.reserve = sidecar.at("context_mib").get<Bytes>() * kMiB;
    const Fit fit = memreplay::fit(subject, parse_strategy("recorded"), options).fit;
    const bool went_through = subject.trace().coverage.complete &&
                              sidecar.at("memory_stats").at("num_ooms").get<int>() == 0;
    EXPECT_EQ(fit.given->fits, went_through);
    ASSERT_TRUE(fit.smallest);
    (went_through ? ran : died) += 1;
    proven += fit.proven_smallest();
    if (went_through) {
      EXPECT_LE(fit.smallest, options.replaying.device.capacity);
    } else if (*fit.smallest <= *options.replaying.device.capacity) {
      // A smaller device would have done: a retry there goes another way.
      EXPECT_GE(fit.fails_again, options.replaying.device.capacity);
    }
  }
  EXPECT_GT(ran, 30u);
  EXPECT_GT(died, 10u);
  EXPECT_GT(proven, 40u);
}

/// The recording as it would be, had the device so much memory: it ends at its first OOM there.
/// Unset: it fits.
std::optional<Recording> cut_at_oom(const Recording& whole, Bytes capacity) {
  const Subject subject(whole, whole.traces.at(0));
  ReplayOptions until;
  until.device.capacity = capacity;
  until.stops.at_oom = true;
  const auto oom =
      Trial(Contender(subject, parse_strategy("recorded")), until).run().metrics.first_oom;
  if (!oom) return std::nullopt;
  Recording cut = whole;
  Trace& trace = cut.traces[0];
  for_each_column([&](auto column) {
    auto& all = trace.*column;
    if (!all.empty()) all.resize(oom->event + 1);
  });
  trace.ops.back() = Op::oom;
  trace.slots.back() = kNoSlot;
  trace.slot_count = 0;
  for (const Slot slot : trace.slots) {
    if (slot != kNoSlot) trace.slot_count = std::max(trace.slot_count, slot + 1);
  }
  trace.end = {};
  if (!trace.addresses.empty()) trace.addresses.back() = 0;
  return cut;
}

const FittedDevice& fitted(const Recording& recording, FitAnswer& answered) {
  const fs::path path = fs::path(testing::TempDir()) / (std::to_string(getpid()) + ".mrt");
  std::ofstream file(path, std::ios::binary);
  writer_named("mrt").write(recording, file);
  file.close();
  answered = answer(Inputs({.paths = {path.string()}}), FitQuestion(), {});
  fs::remove(path);
  return answered.devices.at(0);
}

// Programs of two training steps, or generating text.
TEST(FitCorpus, ARecordingThatEndsAtAnOomPromisesNoMoreThanTheWholeProgramKeeps) {
  const fs::path corpus = fs::path(MEMREPLAY_SHARED) / "corpus/program";
  if (!fs::exists(corpus)) GTEST_SKIP() << "no recordings beside this checkout";
  std::size_t lower = 0;
  std::size_t open = 0;
  std::size_t exact = 0;
  for (const char* name : {"gpt.base", "gptdrop.b2", "encdec.seg2", "gptdrop.seg1r", "resnet.keep",
                           "vit.acc4", "unet.base", "mixer.base", "gpt.sgd", "generate.base"}) {
    const Recording whole = read_recording((corpus / name).string() + ".pickle.gz");
    FitAnswer answered;
    const Bytes needed = *fitted(whole, answered).runs.at(0).fit.smallest;
    for (const Bytes percent : {40, 60, 80, 90, 95, 99}) {
      SCOPED_TRACE(fmt::format("{} on {} % of what it needs", name, percent));
      const auto cut = cut_at_oom(whole, needed * percent / 100);
      if (!cut) continue;
      const FittedDevice& device = fitted(*cut, answered);
      const FitRun& run = device.runs.at(0);
      ASSERT_TRUE(run.fit.smallest);
      const auto said_to_fit = [&](Bytes capacity) {
        const GivenDevice given{.fits = capacity >= *run.fit.smallest, .first_oom = {}};
        return device.known_to_fit(run, given, capacity).value_or(false);
      };
      EXPECT_FALSE(said_to_fit(needed - 1));
      if (device.at_least()) {
        ++lower;
        EXPECT_LE(*run.fit.smallest, needed);
      } else if (run.interval) {
        ++open;
        EXPECT_LE(run.interval->low, needed);
        EXPECT_GE(run.interval->high, needed);
      } else {
        ++exact;
        EXPECT_EQ(*run.fit.smallest, needed);
        EXPECT_TRUE(said_to_fit(needed));
      }
    }
  }
  EXPECT_GT(lower, 20u);
  EXPECT_GT(open, 10u);
  EXPECT_GT(exact, 5u);
}

}  // namespace
}  // namespace memreplay
