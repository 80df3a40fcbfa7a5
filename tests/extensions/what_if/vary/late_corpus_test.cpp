#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "extensions/what_if/vary/varied_program.hpp"
#include "run/question.hpp"
#include "run/run.hpp"
#include "trace/reader.hpp"

// Programs that were recorded on real cards at several lengths, most of them after their models
// were built: corpus/real-vary. Each recording is predicted from the others of its family.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(MEMREPLAY_SHARED) / "corpus/real-vary";

std::map<std::string, std::map<std::int64_t, fs::path>> families() {
  std::map<std::string, std::map<std::int64_t, fs::path>> families;
  std::ifstream in(kFolder / "families.tsv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream columns(line);
    std::string family;
    std::int64_t value = 0;
    std::string file;
    columns >> family >> value >> file;
    families[family][value] = kFolder / file;
  }
  return families;
}

memreplay::Run run_of(const Subject& subject) {
  const LateStart late(subject, {});
  return run(subject, usual_strategy(subject.recording()), simulated({}), {}, late, nullptr, {});
}

memreplay::Run run_of(const MadeRecordings& made) {
  return run_with_others(made, usual_strategy(made.likeliest.recording), simulated({}), {}, {});
}

TEST(LateVary, EachLengthIsPredictedFromTheOthers) {
  if (!fs::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
  int predictions = 0;
  int equal = 0;
  for (const auto& [family, files] : families()) {
    for (const auto& [value, file] : files) {
      std::deque<Recording> others;
      Variation variation{.name = "length"};
      for (const auto& [other, path] : files) {
        if (other == value) continue;
        others.push_back(read_recording(path));
        variation.values.push_back(other);
      }
      const std::vector<MadeRecordings> made = VariedProgram(others, variation, {}).at(value);
      const memreplay::Run predicted = run_of(made.front());
      const Recording recording = read_recording(file);
      const RunMetrics truth = run_of(Subject(recording, recording.traces.front())).metrics;
      SCOPED_TRACE(file);
      ++predictions;
      equal += predicted.metrics.peak_reserved == truth.peak_reserved;
      EXPECT_EQ(predicted.metrics.peak_requested, truth.peak_requested);
      const BytesInterval only{predicted.metrics.peak_reserved, predicted.metrics.peak_reserved};
      const BytesInterval all = predicted.interval ? predicted.interval->peak_reserved : only;
      EXPECT_LE(all.low, truth.peak_reserved);
      EXPECT_GE(all.high, truth.peak_reserved);
    }
  }
  EXPECT_GE(4 * equal, 3 * predictions) << "peaks of what is reserved to the byte";
}

}  // namespace
}  // namespace memreplay
