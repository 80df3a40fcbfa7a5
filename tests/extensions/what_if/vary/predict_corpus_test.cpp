#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "extensions/what_if/vary/varied_program.hpp"
#include "trace/reader.hpp"

// Programs predicted at a batch or a length at which they were recorded too: corpus/program.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(MEMREPLAY_SHARED) / "corpus/program";

struct Recorded {
  explicit Recorded(const std::string& name)
      : recording(read_recording(kFolder / (name + ".pickle.gz"))),
        subject(recording, recording.traces.front()) {
    std::ifstream in(kFolder / (name + ".json"));
    sidecar = nlohmann::json::parse(in);
  }

  std::int64_t value(const char* parameter) const { return sidecar["parameters"][parameter]; }

  Recording recording;
  Subject subject;
  nlohmann::json sidecar;
};

struct Pair {
  std::string family;
  std::vector<std::string> from;
  std::string to;
};

/// Every `nth` of the pairs of a family.
std::vector<Pair> some_pairs(const std::string& family, std::size_t nth) {
  std::ifstream in(kFolder / "pairs.tsv");
  std::vector<Pair> pairs;
  std::size_t seen = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream columns(line);
    Pair pair;
    std::string from;
    std::getline(columns, pair.family, '\t');
    std::getline(columns, from, '\t');
    std::getline(columns, pair.to);
    if (pair.family != family || seen++ % nth != 0) continue;
    std::istringstream names(from);
    for (std::string name; std::getline(names, name, ',');) pair.from.push_back(name);
    pairs.push_back(pair);
  }
  return pairs;
}

Bytes peak_requested(const Trace& trace) {
  Bytes live = 0;
  Bytes peak = 0;
  for (std::size_t event = 0; event < trace.size(); ++event) {
    if (trace.ops[event] == Op::allocate) peak = std::max(peak, live += trace.sizes[event]);
    if (trace.ops[event] == Op::free || trace.ops[event] == Op::free_requested) {
      live -= trace.sizes[event];
    }
  }
  return peak;
}

void expect_exact(const std::string& family, const char* parameter, std::size_t nth) {
  if (!fs::exists(kFolder)) GTEST_SKIP() << "no " << kFolder;
  for (const Pair& pair : some_pairs(family, nth)) {
    std::deque<Recorded> from;
    std::vector<Varied> varied;
    for (const std::string& name : pair.from) {
      const Recorded& recorded = from.emplace_back(name);
      varied.push_back({&recorded.subject, recorded.value(parameter)});
    }
    std::ranges::sort(varied, {}, &Varied::value);
    const Recorded truth(pair.to);
    const MadeRecordings made = predicted(varied, {parameter, truth.value(parameter)});
    EXPECT_EQ(peak_requested(made.likeliest.trace()), truth.sidecar["peak_requested"].get<Bytes>())
        << pair.to << " from " << pair.from.front() << " and others";
  }
}

TEST(PredictCorpus, PeaksAtOtherBatchesAreExact) { expect_exact("batch", "b", 9); }

TEST(PredictCorpus, PeaksAtOtherLengthsAreExact) { expect_exact("length", "s", 5); }

TEST(PredictCorpus, PeaksFromThreeLengthsAreExact) { expect_exact("length3", "s", 7); }

}  // namespace
}  // namespace memreplay
