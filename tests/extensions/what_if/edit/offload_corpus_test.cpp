#include <gtest/gtest.h>

#include <filesystem>

#include "extensions/what_if/edit/edit.hpp"
#include "run/question.hpp"
#include "run/run.hpp"
#include "trace/reader.hpp"

// What an edit says of a program whose saved tensors are moved out, against its own recording.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

memreplay::Run replayed(const MadeRecordings& made) {
  const MadeRecording& one = made.likeliest;
  const Subject subject(one.recording, one.trace(), one.origin);
  return run_with_others(made, parse_strategy("torch"), simulated(sized_for(subject, {})), {}, {});
}

RunMetrics as_recorded(const fs::path& path) {
  const Recording recording = read_recording(path.string());
  const Subject subject(recording, recording.traces.front());
  const LateStart late(subject, replay_options(subject.trace(), {}, {}));
  const OpenDevice device = simulated(sized_for(subject, {}));
  return memreplay::run(subject, parse_strategy("torch"), device, {}, late, nullptr, {}).metrics;
}

TEST(OffloadCorpus, AProgramAsksForWhatItDidWithItsTensorsOnTheHost) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/program";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const std::string name : {"gpt", "resnet", "unet"}) {
    const Recording recording = read_recording((folder / (name + ".base.pickle.gz")).string());
    const std::vector<Edit> edits = {parse_edit("offload:saved,pinned=true")};
    const memreplay::Run run =
        replayed(edited(Subject(recording, recording.traces.front()), edits));
    const RunMetrics truth = as_recorded(folder / (name + ".offpin.pickle.gz"));
    const auto share = [](Bytes said, Bytes true_one) {
      return static_cast<double>(said) / static_cast<double>(true_one);
    };
    EXPECT_NEAR(share(run.metrics.peak_requested, truth.peak_requested), 1, 0.02) << name;
    ASSERT_TRUE(run.interval) << name;
    EXPECT_LE(run.interval->peak_reserved.low, truth.peak_reserved) << name;
    EXPECT_GE(run.interval->peak_reserved.high, truth.peak_reserved) << name;
  }
}

}  // namespace
}  // namespace memreplay
