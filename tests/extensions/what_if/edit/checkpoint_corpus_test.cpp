#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "extensions/what_if/edit/edit.hpp"
#include "run/question.hpp"
#include "run/run.hpp"
#include "trace/reader.hpp"

// What an edit says of a checkpointed program, against that program's own recording: corpus/program
// has programs recorded with and without it.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

nlohmann::json sidecar_of(const fs::path& folder, const std::string& name) {
  std::ifstream in(folder / (name + ".json"));
  return nlohmann::json::parse(in);
}

/// The edit that makes a program what its recording's sidecar says it is.
std::string edit_of(const nlohmann::json& sidecar) {
  const nlohmann::json& parameters = sidecar["parameters"];
  const std::string kind = parameters["checkpoint"];
  std::string edit = "checkpoint:";
  if (kind == "attn" || kind == "mlp") {
    edit += "function=" + kind;
  } else {
    for (const auto& [name, lines] : sidecar["layer_functions"].items()) {
      edit += fmt::format("code={}:{}-{},", name.substr(0, name.rfind(':')), lines[0].get<int>(),
                          lines[1].get<int>());
    }
    const std::map<std::string, std::string> ways = {
        {"seg", "group"}, {"nth", "only"}, {"seq", "segments"}};
    edit += fmt::format("{}={}", ways.at(kind), parameters["k"].get<int>());
  }
  return parameters["reentrant"].get<bool>() ? edit + ",reentrant=true" : edit;
}

memreplay::Run run_of(const MadeRecordings& made) {
  const MadeRecording& one = made.likeliest;
  const Subject subject(one.recording, one.trace(), one.origin);
  return run_with_others(made, parse_strategy("torch"), simulated(sized_for(subject, {})), {}, {});
}

bool holds(const BytesInterval& interval, Bytes value) {
  return interval.low <= value && value <= interval.high;
}

TEST(CheckpointCorpus, AnEditedProgramAsksForWhatItDidWhenItWasRunForReal) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/program";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  std::map<std::string, Recording> recordings;
  std::vector<std::string> others;
  int pairs = 0;
  int equal = 0;
  int reserved_equal = 0;
  int inside = 0;
  std::ifstream list(folder / "pairs.tsv");
  for (std::string line; std::getline(list, line);) {
    std::istringstream columns(line);
    std::string family, from, to;
    columns >> family >> from >> to;
    if (family != "checkpoint") continue;
    const nlohmann::json sidecar = sidecar_of(folder, to);
    if (sidecar["parameters"]["checkpoint"] == "sac") continue;
    ++pairs;
    if (!recordings.contains(from)) {
      recordings[from] = read_recording((folder / (from + ".pickle.gz")).string());
    }
    const Recording& recording = recordings[from];
    try {
      const std::vector<Edit> edits = {parse_edit(edit_of(sidecar))};
      const memreplay::Run run =
          run_of(edited(Subject(recording, recording.traces.front()), edits));
      const Bytes requested = sidecar["peak_requested"];
      const Bytes reserved = sidecar["max_memory_reserved"];
      if (run.metrics.peak_requested == requested) {
        ++equal;
      } else {
        others.push_back(fmt::format("{}: {} for {}", to, run.metrics.peak_requested, requested));
      }
      reserved_equal += run.metrics.peak_reserved == reserved;
      ASSERT_TRUE(run.interval && run.interval->peak_requested) << to;
      inside += holds(*run.interval->peak_requested, requested) &&
                holds(run.interval->peak_reserved, reserved);
    } catch (const UsageError& error) {
      others.push_back(to + ": " + error.what());
    }
  }
  EXPECT_EQ(pairs, 63);
  EXPECT_GE(equal, 62) << testing::PrintToString(others);
  EXPECT_GE(reserved_equal, 61);
  EXPECT_EQ(inside, equal);
}

}  // namespace
}  // namespace memreplay
