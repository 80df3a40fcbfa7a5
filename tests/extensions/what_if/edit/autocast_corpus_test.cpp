#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "extensions/what_if/edit/edit.hpp"
#include "run/question.hpp"
#include "run/run.hpp"
#include "trace/reader.hpp"

// What an edit says of a program under autocast, against that program's own recording.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

memreplay::Run run_of_cast(const MadeRecordings& made) {
  const MadeRecording& one = made.likeliest;
  const Subject subject(one.recording, one.trace(), one.origin);
  return run_with_others(made, parse_strategy("torch"), simulated(sized_for(subject, {})), {}, {});
}

/// Requested at most, with the blocks from before the recording.
Bytes requested_by(const Recording& recording) {
  const Subject subject(recording, recording.traces.front());
  const Setup setup;
  const Control control;
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  const OpenDevice device = simulated(sized_for(subject, {}));
  return memreplay::run(subject, parse_strategy("torch"), device, setup, late, nullptr, control)
      .metrics.peak_requested;
}

void expect_said(const fs::path& from, const fs::path& to, const std::string& edit) {
  const Recording recording = read_recording(from.string());
  const std::vector<Edit> edits = {parse_edit(edit)};
  const memreplay::Run run =
      run_of_cast(edited(Subject(recording, recording.traces.front()), edits));
  const auto truth = static_cast<double>(requested_by(read_recording(to.string())));
  EXPECT_NEAR(static_cast<double>(run.metrics.peak_requested) / truth, 1, 0.01) << to;
  ASSERT_TRUE(run.interval && run.interval->peak_requested) << to;
  EXPECT_LE(static_cast<double>(run.interval->peak_requested->low), truth) << to;
  EXPECT_GE(static_cast<double>(run.interval->peak_requested->high), truth) << to;
}

TEST(AutocastCorpus, AProgramInFp32AsksForWhatItDidUnderAutocast) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/program";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const std::string name : {"gpt", "vit", "resnet", "encdec"}) {
    expect_said(folder / (name + ".base.pickle.gz"), folder / (name + ".amp.pickle.gz"),
                "autocast:cache=false");
  }
}

TEST(AutocastCorpus, ForwardPassesOnARealCardAreToldByTheirNativeFrames) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/real-vary";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const std::string length : {"128", "512", "1024", "2048"}) {
    expect_said(folder / ("lin-fwd-fp32-" + length + ".pickle.gz"),
                folder / ("lin-fwd-bf16-" + length + ".pickle.gz"), "autocast:to=bf16");
  }
}

}  // namespace
}  // namespace memreplay
