#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "extensions/diff/answer.hpp"
#include "extensions/ranks/answer.hpp"
#include "extensions/ranks/ranks_report.hpp"
#include "metamorphic/tried.hpp"
#include "questions/check/answer.hpp"
#include "questions/check/baseline_file.hpp"
#include "questions/explain/answer.hpp"
#include "questions/tune/answer.hpp"
#include "trace/writer.hpp"

// Answers to related questions agree.

namespace memreplay {
namespace {

namespace fs = std::filesystem;

class Answers : public Rule {};
MEMREPLAY_TRY_RULES(Answers);

/// A file that is gone with this.
class HeldFile {
 public:
  explicit HeldFile(const std::string& suffix)
      : path_((fs::path(testing::TempDir()) / fmt::format("{}{}", ::getpid(), suffix)).string()) {}
  ~HeldFile() { fs::remove(path_); }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_P(Answers, ARecordingDiffersNotFromItself) {
  const Inputs twice = inputs_of({&recording_, &recording_});
  std::vector<std::vector<StrategySpec>> asked = {{}};
  for (const StrategySpec& spec : strategies_for(recording_)) asked.push_back({spec});
  for (const auto& strategies : asked) {
    SCOPED_TRACE(strategies.empty() ? "as recorded" : "-s " + strategies[0].text);
    const auto found = answer(twice, DiffQuestion{.strategies = strategies}, {});
    const RecordingsDiff& diff = std::get<RecordingsAnswer>(found).diff;
    EXPECT_EQ(diff.only_a.blocks + diff.only_b.blocks, 0u);
    EXPECT_FALSE(diff.requests.first);
    EXPECT_TRUE(diff.requests.same_frees);
    for (const PlaceDiff& place : diff.places) EXPECT_EQ(place.change(), PlaceDiff::Change::same);
    if (strategies.empty()) continue;
    const auto other = answer(inputs_of(recording_),
                              DiffQuestion{.strategies = {strategies[0], strategies[0]}}, {});
    EXPECT_EQ(std::get<StrategiesAnswer>(other).diff.first(), nullptr);
  }
}

TEST_P(Answers, ACheckPassesRightAfterItsUpdate) {
  const Inputs inputs = inputs_of(recording_);
  CheckQuestion question{.baseline = "baseline.json"};
  for (const StrategySpec& spec : strategies_for(recording_)) {
    question.strategies.push_back(spec.text);
  }
  const std::string kept = baseline_text(answer_update(inputs, {}, question, {}).renewed);
  const Baseline baseline = parse_baseline("baseline.json", kept);
  const CheckAnswer checked = answer(inputs, baseline, question, {});
  EXPECT_EQ(checked.entries.size(), question.strategies.size() * inputs.chosen().size());
  for (const EntryCheck& entry : checked.entries) {
    EXPECT_TRUE(entry.passed() && entry.grown.empty()) << "-s " << entry.setup.strategy;
  }
  EXPECT_EQ(baseline_text(answer_update(inputs, baseline, question, {}).renewed), kept);
}

TEST_P(Answers, PartsOfRanksAreTheWholeInAnyOrder) {
  const Recording other = random_trace(random_()).recording();
  RanksQuestion question{.strategies = {parse_strategy("torch"), parse_strategy("direct")},
                         .jobs = 2};
  for (int rank = 0; rank < 7; ++rank) {
    question.input.paths.push_back(fmt::format("rank{}.gone", rank));
  }
  question.input.read.at_hand = [&](const std::string& path) -> std::optional<Recording> {
    if (path == "rank6.gone") return std::nullopt;  // which then cannot be read
    return path == "rank2.gone" ? other : recording_;
  };
  const std::string whole = to_json(answer(ranks_part(question, {})));
  const auto sent = [&](std::size_t number) {  // as another machine reads it
    question.shard = {number, 3};
    const HeldFile file(".part");
    std::ofstream(file.path()) << part_text(ranks_part(question, {}));
    return read_part(file.path());
  };
  const std::array<RanksPart, 3> parts = {sent(1), sent(2), sent(3)};
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    const auto& [first, second, third] = order;
    EXPECT_EQ(to_json(answer(merged({parts[first], parts[second], parts[third]}))), whole);
    EXPECT_EQ(to_json(answer(merged({merged({parts[first], parts[second]}), parts[third]}))),
              whole);
  } while (std::ranges::next_permutation(order).found);
}

/// What a command prints, but for what it costs.
std::string printed(const std::string& arguments) {
  std::string text;
  FILE* out = ::popen((MEMREPLAY_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
  for (std::array<char, 4096> some{};
       const std::size_t read = fread(some.data(), 1, some.size(), out);) {
    text.append(some.data(), read);
  }
  ::pclose(out);
  const auto without_effort = [](int, nlohmann::json::parse_event_t event, nlohmann::json& key) {
    return event != nlohmann::json::parse_event_t::key ||
           (key != "nodes" && key.get<std::string>().find("second") == std::string::npos);
  };
  const auto parsed = nlohmann::json::parse(text, without_effort, false);
  return parsed.is_discarded() ? text : parsed.dump(1);
}

/// The commands that may do several things at once, with how they are told how many at the end.
std::vector<std::string> threaded_commands() {
  std::vector<std::string> found;
  for (const std::string command : {
#define MEMREPLAY_COMMAND(name, ...) #name,
#include "registered/commands.def"
#undef MEMREPLAY_COMMAND
       }) {
    const std::string help = printed(command + " --help-all");
    const auto offers = [&](const char* option) {
      return help.find(fmt::format("  {} N ", option)) != std::string::npos;
    };
    const std::string little =
        fmt::format("{} --json -q{}{} ", command, offers("--runs") ? " --runs 60" : "",
                    offers("--orders") ? " --orders 20" : "");
    for (const char* option : {"--threads", "--jobs"}) {
      if (offers(option)) found.push_back(little + option + " ");
    }
  }
  return found;
}

TEST_P(Answers, TheNumberOfThreadsChangesNoByte) {
  static const std::vector<std::string> commands = threaded_commands();
  EXPECT_GT(commands.size(), 3u);
  const HeldFile file("_rank1.mrt");
  std::ofstream out(file.path(), std::ios::binary);
  writer_named("mrt").write(recording_, out);
  out.close();
  for (const std::string& command : commands) {
    EXPECT_EQ(printed(command + "1 " + file.path()), printed(command + "2 " + file.path()))
        << command;
  }
}

/// A device that is too small for the recording, by so much.
memreplay::Setup on_part_of(Bytes peak, Bytes percent) {
  memreplay::Setup setup;
  setup.capacity = std::max<Bytes>(peak * percent / 100, 1);
  return setup;
}

TEST_P(Answers, ExplainAndReplayGiveOneVerdict) {
  const Inputs inputs = inputs_of(recording_);
  for (const StrategySpec& spec : strategies_for(recording_)) {
    const Bytes peak = replayed(inputs, {spec}).traces[0].runs[0].metrics.peak_reserved;
    for (const Bytes percent : {50, 90, 100}) {
      SCOPED_TRACE(fmt::format("-s {} on {} % of its peak", spec.text, percent));
      const auto setup = on_part_of(peak, percent);
      const auto there = replayed(inputs, {spec}, setup).traces[0].runs[0];
      const ExplainAnswer explained =
          answer(inputs, ExplainQuestion{.strategy = spec, .setup = setup, .runs = 20}, {});
      const Explanation& why = explained.devices[0].explanation;
      EXPECT_EQ(why.fails, there.metrics.ooms > 0);
      EXPECT_EQ(why.cause == Cause::none, there.metrics.ooms == 0) << name_of(why.cause);
      if (!why.fails && there.exact) {
        EXPECT_EQ(why.retries, there.metrics.oom_retries);
        EXPECT_EQ(why.reserved_peak.reserved, there.metrics.peak_reserved);
      }
      const std::optional<OomPlace>& oom = there.metrics.first_oom;
      if (!oom) continue;
      EXPECT_EQ(why.event.value_or(0), oom->event);
      if (!why.event) continue;  // not all from before the recording found room
      EXPECT_EQ(why.live_requested, oom->live);
      const bool fits = oom->live + oom->requested <= *setup.capacity;
      EXPECT_TRUE(fits || why.cause == Cause::shortage) << name_of(why.cause);
    }
  }
}

TEST_P(Answers, ExplainAndTuneGiveOneVerdict) {
  const Inputs inputs = inputs_of(recording_);
  const auto whole = replayed(inputs, {usual_strategy(recording_)}).traces[0].runs[0];
  std::vector<memreplay::Setup> setups(1);  // its own device
  for (const Bytes percent : {50, 90, 98, 100, 103, 110, 130}) {
    setups.push_back(on_part_of(whole.metrics.peak_requested, percent));
  }
  for (const auto& setup : setups) {
    SCOPED_TRACE(setup.capacity.value_or(0));
    const TuneAnswer tuned = answer(inputs, TuneQuestion{.setup = setup, .runs = 40}, {});
    const ExplainAnswer explained = answer(inputs, ExplainQuestion{.setup = setup, .runs = 40}, {});
    const Explanation& why = explained.devices[0].explanation;
    EXPECT_EQ(name_of(tuned.verdict.cause), name_of(why.cause));
    EXPECT_EQ(tuned.verdict.in_effect, why.in_effect);
    EXPECT_EQ(tuned.refusal ? tuned.refusal->event : why.event, why.event);
  }
}

}  // namespace
}  // namespace memreplay
