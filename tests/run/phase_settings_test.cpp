#include "run/phase_settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "replay/trial.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

constexpr const char* kProgram = MEMREPLAY_TRACES "/torch/phases.pickle";

PhasedSettings set_in_phase(const Subject& subject, const StrategySpec& spec,
                            const std::string& text) {
  Setup setup;
  setup.phase_settings = {phase_setting(text)};
  return phased_settings(Contender(subject, spec), setup);
}

std::string phase_complaint(const Subject& subject, const std::string& strategy,
                            const std::string& text) {
  try {
    set_in_phase(subject, parse_strategy(strategy), text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

class PhaseSettings : public testing::Test {
 protected:
  PhasedSettings phased(const StrategySpec& spec, const std::string& text) const {
    return set_in_phase(subject_, spec, text);
  }

  Recording recording_ = read_recording(kProgram);
  Subject subject_{recording_, recording_.traces[0]};
};

// What PyTorch counted of the program of the recording where that passes one setting at the
// beginning of each phase `load` and the first one again at its end.
TEST_F(PhaseSettings, ComeToWhatPyTorchCountedOfAProgramThatPassedThem) {
  std::ifstream file(MEMREPLAY_TRACES "/torch/phases.counters.json");
  for (const auto& truth : nlohmann::json::parse(file)) {
    StrategySpec spec = torch_spec_from_conf(truth["config"].get<std::string>());
    const std::string version = truth["torch_version"];
    spec.options.emplace_back("version", version);
    const std::string set = truth["in_load"].get<std::string>() + "@phase:load";
    ReplayOptions options;
    options.device.capacity = Bytes{81920} * kMiB;
    options.settings_calls = phased(spec, set).calls;
    ASSERT_EQ(options.settings_calls.size(), 4u);
    const Counters counters = Trial(Contender(subject_, spec), options).run().metrics.counters;
    const std::map<std::string, std::int64_t> found(counters.begin(), counters.end());
    for (const auto& [name, value] : truth["memory_stats"].items()) {
      const auto counted = found.find(name);
      ASSERT_NE(counted, found.end()) << name;
      EXPECT_EQ(counted->second, value.get<std::int64_t>())
          << version << ' ' << spec.text << ", " << set << ": " << name;
    }
  }
}

TEST_F(PhaseSettings, WhatPassingSetsBackOrLeavesIsSaid) {
  const auto spec = parse_strategy("torch:max_split_size_mb=64");
  EXPECT_EQ(phased(spec, "roundup_power2_divisions:4@phase:load").remarks,
            (std::vector<std::string>{"passing roundup_power2_divisions:4 in load resets "
                                      "max_split_size_mb:64 to the default there"}));
  EXPECT_EQ(phased(spec, "max_split_size_mb:64,expandable_segments:True@phase:load").remarks,
            (std::vector<std::string>{"expandable_segments:True remains after load, because the "
                                      "settings passed at its end do not name that option"}));
}

TEST_F(PhaseSettings, OptionsOfARecordingThatItsReleaseDoesNotReadAreNotPassed) {
  Recording recording = recording_;
  recording.settings.conf = "of_a_later_release:1";
  const Subject subject(recording, recording.traces[0]);
  EXPECT_EQ(phase_complaint(subject, "recorded", "max_split_size_mb:64@phase:load"), "none");
}

TEST_F(PhaseSettings, WhatCannotBeIsRefused) {
  EXPECT_EQ(phase_complaint(subject_, "torch", "max_split_size_mb:64@phase:laod"),
            "--set: no phase 'laod' in this recording; did you mean 'load'? (it has load, step)");
  EXPECT_EQ(phase_complaint(subject_, "bfc", "max_split_size_mb:64@phase:load"),
            "--set: strategy 'bfc' reads no settings of PyTorch; expected torch or recorded");
  EXPECT_EQ(phase_complaint(subject_, "torch", "max_split_size_mb:1@phase:load"),
            "--set: max_split_size_mb is '1'; expected 20 (large_segment_size_mb) or more");
  EXPECT_NE(phase_complaint(subject_, "torch", "max_split_size_mb:64").find("CONF@phase:NAME"),
            std::string::npos);
  EXPECT_NE(phase_complaint(subject_, "torch", "backend:native@phase:load").find("on the way"),
            std::string::npos);
}

}  // namespace
}  // namespace memreplay
