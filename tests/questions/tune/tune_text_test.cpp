#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/settings/phrases.hpp"
#include "questions/tune/tune_report.hpp"

namespace memreplay {
namespace {

TuneOutcome outcome(const Setting& setting, std::uint64_t ooms, Bytes reserved,
                    std::uint64_t calls) {
  Run run;
  run.metrics.ooms = ooms;
  run.metrics.peak_reserved = reserved;
  run.metrics.device_allocs = calls;
  return {.settings = {setting}, .runs = {run}, .pareto = true};
}

TuneAnswer answer_of(TuneOutcome baseline, std::vector<TuneOutcome> outcomes) {
  TuneAnswer answer;
  answer.traces = {{}};
  answer.devices = {{}};
  answer.model_checks = {std::nullopt};
  answer.states_beyond = {std::nullopt};
  answer.result.baseline = "recorded";
  answer.result.variable = "PYTORCH_CUDA_ALLOC_CONF";
  answer.result.baseline_outcome = std::move(baseline);
  answer.result.outcomes = std::move(outcomes);
  answer.result.helps = true;
  return answer;
}

Refusal refused(Bytes requested, Cause cause) {
  return {.event = 7,
          .live = 60 * kMiB,
          .requested = requested,
          .room = 100 * kMiB,
          .allowance = 100 * kMiB,
          .cause = cause};
}

TEST(TuneAnswer, AListIsQuotedForTheShell) {
  const auto line = [](const Setting& setting) {
    return line_to_set_best(answer_of(outcome({}, 0, 1, 1), {outcome(setting, 0, 1, 1)}).result);
  };
  Setting list;
  list.roundup_power2_divisions[3] = 8;
  EXPECT_EQ(line(list), "export PYTORCH_CUDA_ALLOC_CONF='roundup_power2_divisions:[1:0,8:8]'");
  EXPECT_EQ(line({.max_split_size_mb = 64}), "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64");
  EXPECT_EQ(line({}), "export PYTORCH_CUDA_ALLOC_CONF=''");
  EXPECT_EQ(list_shortened("a:1,roundup_power2_divisions:[1:0,8:8],b:2"),
            "a:1,roundup_power2_divisions:[…],b:2");
}

TEST(TuneAnswer, TheAnswerComesFirstAndTheLineToPasteIsThere) {
  const TuneAnswer answer = answer_of(
      outcome({}, 1, 90 * kMiB, 3),
      {outcome({.expandable_segments = true}, 0, 100 * kMiB, 9), outcome({}, 1, 90 * kMiB, 3)});
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(text.starts_with(" expandable_segments:True serves every request")) << text;
  EXPECT_NE(text.find("\n export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"),
            std::string::npos);
}

TEST(TuneAnswer, WhereNothingHelpsThereIsNothingToPaste) {
  TuneAnswer answer = answer_of(outcome({}, 0, 90 * kMiB, 3), {outcome({}, 0, 90 * kMiB, 3)});
  answer.result.helps = false;
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(text.starts_with(" Nothing helps")) << text;
  EXPECT_EQ(text.find("export"), std::string::npos);
}

// The recording starts late: 80 to 110 MiB are estimated of the first.
TuneAnswer late_answer(LateVerdict::Kind kind) {
  TuneAnswer answer = answer_of(outcome({}, 0, 120 * kMiB, 3),
                                {outcome({.expandable_segments = true}, 0, 90 * kMiB, 9),
                                 outcome({.large_segment_size_mb = 64}, 0, 80 * kMiB, 9)});
  for (TuneOutcome& outcome : answer.result.outcomes) outcome.runs[0].exact = false;
  TuneOutcome& first = answer.result.outcomes[0];
  first.weighed = true;
  first.runs[0].interval = {{80 * kMiB, 110 * kMiB}, {70 * kMiB, 100 * kMiB}};
  answer.result.helps = kind == LateVerdict::Kind::supported;
  answer.late = {.kind = kind,
                 .best = {80 * kMiB, 110 * kMiB},
                 .baseline = {120 * kMiB, 120 * kMiB},
                 .setting = "expandable_segments:True",
                 .weighed = 1,
                 .open = 2};
  return answer;
}

TEST(TuneAnswer, ALateRecordingIsAnsweredWithItsInterval) {
  EXPECT_TRUE(to_text(late_answer(LateVerdict::Kind::supported), {})
                  .starts_with(" expandable_segments:True reserves 80 MiB to 110 MiB, recorded 120 "
                               "MiB: the ranges do not overlap."));
  const std::string likely = to_text(late_answer(LateVerdict::Kind::undecided), {});
  EXPECT_TRUE(
      likely.starts_with(" expandable_segments:True probably reserves ≈ 90 MiB (80 MiB to 110 "
                         "MiB), recorded 120 MiB."))
      << likely;
  EXPECT_NE(likely.find("record from the start of the program"), std::string::npos);
  EXPECT_NE(likely.find("To try it:\n export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"),
            std::string::npos);
  EXPECT_TRUE(to_text(late_answer(LateVerdict::Kind::nothing_better), {})
                  .starts_with(" Nothing helps: by the estimates"));
  EXPECT_TRUE(to_text(late_answer(LateVerdict::Kind::interrupted), {})
                  .starts_with(" Undecided: interrupted"));
}

TEST(TuneAnswer, WhetherALateRecordingIsServedMayBeLikelyToo) {
  TuneAnswer answer = late_answer(LateVerdict::Kind::undecided);
  answer.result.baseline_outcome.runs[0].metrics.ooms = 1;
  EXPECT_TRUE(to_text(answer, {})
                  .starts_with(" expandable_segments:True probably serves every request, unlike "));
}

TEST(TuneAnswer, RowsThatWereWeighedHaveTheirIntervalAndOthersSayThatTheyAreEstimates) {
  const std::string text = to_text(late_answer(LateVerdict::Kind::supported), {});
  EXPECT_NE(text.find("1  expandable_segments:True  ≈ 90 MiB (80 MiB to 110 MiB) "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2  large_segment_size_mb:64 (estimate)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 outcomes were estimated"), std::string::npos) << text;
}

TEST(TuneAnswer, TheJsonOfARunHasItsInterval) {
  const TuneAnswer answer = late_answer(LateVerdict::Kind::undecided);
  const auto json = nlohmann::json::parse(to_json(answer));
  const auto& interval = json["runs"][0]["interval"];
  EXPECT_EQ(interval["peak_reserved_bytes"], nlohmann::json({80 * kMiB, 110 * kMiB}));
  EXPECT_EQ(interval["end_reserved_bytes"], nlohmann::json({70 * kMiB, 100 * kMiB}));
  EXPECT_TRUE(json["runs"][1]["interval"].is_null());
  EXPECT_EQ(json["undetermined"], 2);
  EXPECT_EQ(json["weighed"], 1);
  EXPECT_TRUE(json["baseline"]["interval"].is_null());
  EXPECT_EQ(to_table(answer).rows[1].back(), std::to_string(110 * kMiB));
}

TEST(TuneAnswer, ATableHasANameForEveryColumn) {
  const Table table = to_table(late_answer(LateVerdict::Kind::supported));
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

TEST(TuneAnswer, TheJsonHasARunForEveryOutcomeWithItsSettings) {
  TuneAnswer answer = answer_of(
      outcome({}, 0, 9, 3), {outcome({.max_split_size_mb = 64}, 0, 5, 3), outcome({}, 0, 9, 3)});
  answer.result.tried = 7;
  const auto json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json["command"], "tune");
  EXPECT_EQ(json["tried"], 7);
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["settings"], nlohmann::json({"max_split_size_mb:64"}));
  EXPECT_EQ(json["runs"][0]["peak_reserved_bytes"], 5);
  EXPECT_EQ(json["baseline"]["peak_reserved_bytes"], 9);
  EXPECT_EQ(json["best"]["setting"], "max_split_size_mb:64");
}

TEST(TuneAnswer, FewerRetriesOnAFullDeviceAreTheAnswer) {
  TuneAnswer answer = answer_of(outcome({}, 0, 90 * kMiB, 80),
                                {outcome({.expandable_segments = true}, 0, 91 * kMiB, 30)});
  answer.result.objective = Objective::full_device;
  answer.result.baseline_outcome.runs[0].metrics.oom_retries = 39;
  answer.result.outcomes[0].runs[0].metrics.oom_retries = 13;
  EXPECT_TRUE(to_text(answer, {})
                  .starts_with(" expandable_segments:True needs 13 retries instead of the 39 of "
                               "recorded: the device was full"));
}

TEST(TuneAnswer, AShortageComesFirstAndNothingIsAdvised) {
  TuneAnswer answer = answer_of(outcome({}, 1, 90 * kMiB, 3), {outcome({}, 1, 90 * kMiB, 3)});
  answer.result.helps = false;
  answer.result.shortage = RequestInRoom{7, 60 * kMiB, 50 * kMiB, 100 * kMiB};
  answer.refusal = refused(50 * kMiB, Cause::shortage);
  answer.verdict = {Cause::shortage, false};
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(
      text.starts_with(" Shortage: live memory and the 50 MiB request together exceed the device "
                       "by 10 MiB; no allocator\n"
                       " setting will help. At event 7, 60 MiB are live and 50 MiB more"))
      << text;
  EXPECT_EQ(text.find("export"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json["shortage"]["room_bytes"], 100 * kMiB);
  EXPECT_EQ(json["verdict"], "shortage");
  EXPECT_EQ(json["in_effect"], false);
}

TEST(TuneAnswer, ThatNoSettingServesEveryRequestIsSaidAfterTheVerdict) {
  TuneAnswer answer = answer_of(outcome({}, 1, 90 * kMiB, 3), {outcome({}, 1, 80 * kMiB, 3)});
  answer.result.helps = false;
  answer.result.none_serves = true;
  answer.result.tried = 412;
  answer.refusal = refused(36 * kMiB, Cause::fragmentation);
  answer.verdict = {Cause::fragmentation, false};
  const std::string text = to_text(answer, {});
  EXPECT_EQ(helpless_sentence(answer),
            "Fragmentation: the 36 MiB request would have fitted, with 4 MiB to spare. None of 412 "
            "settings tried serves every request.");
  EXPECT_TRUE(text.starts_with(" Fragmentation: the 36 MiB request")) << text;
  EXPECT_EQ(text.find("export"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json["verdict"], "fragmentation");
  EXPECT_EQ(json["cause"], "fragmentation");
  EXPECT_EQ(json["in_effect"], false);
  EXPECT_EQ(json["best"]["helps"], false);
}

TEST(TuneAnswer, WithoutARequestItSaysHowToRecord) {
  TuneAnswer answer;
  answer.traces = {{}};
  answer.traces[0].path = "state.pickle";
  answer.traces[0].format = "torch-snapshot";
  answer.devices = {{}};
  answer.model_checks = {std::nullopt};
  answer.states_beyond = {std::nullopt};
  answer.nothing_requested = true;
  const std::string text = to_text(answer, {});
  EXPECT_NE(text.find("torch.cuda.memory._record_memory_history("), std::string::npos) << text;
  EXPECT_EQ(text.find("export"), std::string::npos);
  const auto json = nlohmann::json::parse(to_json(answer));
  EXPECT_TRUE(json["best"]["env"].is_null());
  EXPECT_TRUE(json["baseline"].is_null());
  EXPECT_TRUE(json["runs"].empty());
  EXPECT_TRUE(to_table(answer).rows.empty());
}

TEST(TuneAnswer, RowsShowSettingsWhole) {
  Setting list;
  list.roundup_power2_divisions[3] = 8;
  const TuneAnswer answer = answer_of(outcome({}, 0, 9, 1), {outcome(list, 0, 1, 1)});
  EXPECT_NE(to_text(answer, {}).find("  1  roundup_power2_divisions:[1:0,8:8]"), std::string::npos);
}

}  // namespace
}  // namespace memreplay
