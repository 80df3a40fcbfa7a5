#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "questions/settings/search.hpp"
#include "trace/reader.hpp"

// What a search says of a setting, against the original run under that setting: corpus/torch has
// the same programs recorded under several.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

struct Member {
  fs::path pickle;
  nlohmann::json sidecar;

  std::string hash() const { return sidecar.value("request_hash", ""); }
  Bytes capacity() const {
    return (sidecar["capacity_mib"].get<Bytes>() - sidecar["context_mib"].get<Bytes>()) * kMiB;
  }
};

std::map<std::string, std::vector<Member>> families(const fs::path& folder) {
  std::map<std::string, std::vector<Member>> found;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".json") continue;
    const fs::path pickle = fs::path(file.path()).replace_extension(".pickle");
    if (!fs::exists(pickle)) continue;
    std::ifstream in(file.path());
    const std::string stem = file.path().stem();
    found[stem.substr(0, stem.rfind('.'))].push_back({pickle, nlohmann::json::parse(in)});
  }
  return found;
}

TEST(TuneCorpus, ASettingReservesWhatItDidWhenItWasRunForReal) {
  const fs::path folder = fs::path(MEMREPLAY_SHARED) / "corpus/torch";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  int compared = 0;
  int best_compared = 0;
  for (const auto& [family, members] : families(folder)) {
    for (const Member& a : members) {
      const bool has_pair = std::ranges::any_of(members, [&](const Member& b) {
        return b.pickle != a.pickle && b.hash() == a.hash() && !a.hash().empty();
      });
      if (!has_pair) continue;
      const Recording recording = read_recording(a.pickle);
      const Subject subject(recording, recording.traces[0]);
      TuneOptions options;
      options.bench = {{&subject}, {{.capacity = a.capacity()}}, {false}};
      options.runs = 40;
      const TuneResult result = tune(options);
      for (const Member& b : members) {
        if (b.hash() != a.hash() || b.sidecar["memory_stats"].is_null()) continue;
        const std::string wanted = b.sidecar["config"];
        for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
          const TuneOutcome& outcome = result.outcomes[i];
          const bool exact = outcome.is_exact();
          const bool listed = std::ranges::any_of(outcome.settings, [&](const Setting& setting) {
            return conf_of(setting, result.kept) == wanted;
          });
          if (!exact || !listed) continue;
          ++compared;
          best_compared += i == result.best;
          EXPECT_EQ(outcome.runs.front().metrics.peak_reserved,
                    b.sidecar["memory_stats"]["reserved_bytes.all.peak"].get<Bytes>())
              << a.pickle.stem() << " under '" << wanted << "'";
        }
      }
    }
  }
  EXPECT_GE(compared, 100);
  EXPECT_GE(best_compared, 20);
}

}  // namespace
}  // namespace memreplay
