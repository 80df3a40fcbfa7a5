#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/check/checks.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

std::string text_of(const CheckAnswer& answer) { return to_text(answer, {}); }

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CheckText, SaysWhatIsOverWhereAndWhatGrew) {
  EXPECT_EQ(text_of(worse_run()),
            " FAIL  peak reserved  5328 MiB > 5202 MiB (baseline 5100 MiB + 2 %; +4.5 %)\n"
            "       first above at event 1,902, step 3\n"
            "       grew since the baseline: model.py:88 MLP.forward +96 MiB, loss.py:12 "
            "cross_entropy +32 MiB at\n"
            "       most\n"
            " ok    peak allocated 5179 MiB (+0.0 %, limit 5282 MiB)\n"
            "\n"
            " 1 of 2 values is over its limit. If that is intended, repeat with --update and "
            "commit memory.json.\n");
}

TEST(CheckText, AShortLineHasItsEventBesideIt) {
  CheckAnswer answer = worse_run();
  answer.entries[0].values = {value_of("ooms", {.baseline = 0, .value = 2, .tolerance = "1"})};
  EXPECT_TRUE(says(text_of(answer),
                   " FAIL  OOMs 2 > 1 (baseline 0 + 1)   first above at event 1,902, step 3\n"));
}

TEST(CheckText, WhatLooksEqualIsSaidInBytes) {
  CheckAnswer answer = worse_run();
  answer.entries[0].values = {
      value_of("gap_bytes", {.baseline = 5000 * kMiB, .value = 5000 * kMiB + 1, .tolerance = "0"})};
  EXPECT_TRUE(
      says(text_of(answer), "gap 5,242,880,001 B > 5,242,880,000 B (baseline 5000 MiB; +0.0 %)"));
}

TEST(CheckText, NamesAtMostFivePlaces) {
  CheckAnswer answer = worse_run();
  answer.entries[0].grown.clear();
  for (const char* place : {"a", "b", "c", "d", "e", "f", "g"}) {
    answer.entries[0].grown.push_back({place, 0, 1, 1});
  }
  EXPECT_TRUE(says(text_of(answer), "d +1 B, e +1 B, and 2 more\n"));
}

TEST(CheckText, SaysWhenNothingGrewOrNobodyKnows) {
  CheckAnswer answer = worse_run();
  answer.entries[0].grown.clear();
  EXPECT_TRUE(says(text_of(answer), "no call site holds more at the allocated peak"));
  answer.entries[0].not_compared = "stacks were recorded on one side only";
  EXPECT_TRUE(says(text_of(answer), "growth is not known: stacks were recorded on one side only"));
  EXPECT_TRUE(says(to_markdown(answer),
                   "\n"
                   "- `run.pickle`: growth is not known: "));
}

TEST(CheckText, SaysWhatWasLeftOutAndWhatWasNotChecked) {
  CheckAnswer answer = worse_run();
  answer.entries[0].values.erase(answer.entries[0].values.begin());
  answer.entries[0].blocks_before = 2;
  answer.entries[0].bytes_before = 3 * kMiB;
  answer.not_checked = {{.trace = "a.csv"}, {.trace = "b.csv", .gpu = 1}};
  const std::string text = text_of(answer);
  EXPECT_TRUE(says(text, "2 blocks (3 MiB) from before the recording are left out, as when this "));
  EXPECT_TRUE(says(text, "Not checked, though in memory.json: a.csv, b.csv, gpu 1."));
}

TEST(CheckText, SaysWhatTheProgramReservedWithWhatIsLeftOut) {
  CheckAnswer answer = worse_run();
  EntryCheck& entry = answer.entries[0];
  entry.blocks_before = 2;
  entry.from_before = FromBefore::left_out;
  entry.with_start = {.peak_reserved = 998 * kMiB, .interval = {}, .inexact_because = {}};
  EXPECT_TRUE(says(to_markdown(answer), "empty device. With them: peak reserved 998 MiB.\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(answer))["entries"][0]["with_start"]["exact"], true);

  entry.blocks_before = 0;
  entry.with_start->interval = {{900 * kMiB, 1100 * kMiB}, {}};
  entry.with_start->inexact_because = "of its start";
  EXPECT_TRUE(says(to_markdown(answer),
                   "With memory cached before the recording: peak reserved ≈ 998 MiB (900 MiB to "
                   "1100 MiB): an estimate, the recording starts late.\n"));
  const nlohmann::json json = nlohmann::json::parse(to_json(answer))["entries"][0]["with_start"];
  EXPECT_EQ(json["exact"], false);
  EXPECT_EQ(json["interval"]["peak_reserved_bytes"], (nlohmann::json{900 * kMiB, 1100 * kMiB}));
}

TEST(CheckText, WhatIsCountedInAndEstimatedIsSaid) {
  CheckAnswer answer = worse_run();
  EntryCheck& entry = answer.entries[0];
  entry.from_before = FromBefore::counted;
  entry.blocks_before = 1;
  entry.bytes_before = 3 * kMiB;
  entry.values[0].interval = {5200 * kMiB, 5400 * kMiB};
  entry.inexact_because = "of its start";
  const std::string text = text_of(answer);
  EXPECT_TRUE(says(text,
                   " FAIL  peak reserved  ≈ 5328 MiB (5200 MiB to 5400 MiB) > 5202 MiB "
                   "(baseline 5100 MiB + 2 %; +4.5 %)\n"));
  EXPECT_TRUE(says(text,
                   "1 block (3 MiB) from before the recording is counted. Reserved values are "
                   "estimates, because\n"
                   "       the recording starts late; the most likely value is judged.\n"));
  EXPECT_FALSE(says(text, "of its start"));
  const nlohmann::json json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json["metrics"][0]["interval"], (nlohmann::json{5200 * kMiB, 5400 * kMiB}));
  EXPECT_TRUE(json["metrics"][1]["interval"].is_null());
  EXPECT_EQ(json["entries"][0]["start"], "auto");
  EXPECT_EQ(json["entries"][0]["counted_bytes"], 3 * kMiB);
  EXPECT_EQ(json["entries"][0]["left_out_bytes"], 0);
}

TEST(CheckText, WhatCouldNotBeCheckedIsCountedAndNamed) {
  CheckAnswer answer = worse_run();
  answer.failed = {{"x<y.csv", "x<y.csv:3: size is 'many'"}};
  EXPECT_TRUE(says(text_of(answer), "\n 1 recording could not be checked. 1 of 2 values is "));
  EXPECT_TRUE(says(to_markdown(answer), "`x<y.csv` could not be checked: `x<y.csv:3: size is "));
  const nlohmann::json json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["failed"][0]["path"], "x<y.csv");
  EXPECT_TRUE(says(to_junit(answer), "tests=\"3\" failures=\"1\" errors=\"1\" "));
  EXPECT_TRUE(
      says(to_junit(answer),
           "  <testcase classname=\"x&lt;y.csv\" name=\"is checked\">\n"
           "    <error type=\"not checked\" message=\"x&lt;y.csv:3: size is &#39;many&#39;\">"));
}

TEST(CheckText, WhereItIsNotThePlainCaseTheEntryIsNamed) {
  CheckAnswer answer = worse_run();
  answer.entries[0].setup = {"bfc", "", 24 * kGiB};
  answer.entries[0].gpu = 1;
  EXPECT_TRUE(text_of(answer).starts_with(" run.pickle, gpu 1, bfc on 24 GiB\n FAIL"));
  answer.entries[0] = {.trace = "run.pickle", .gpu = -1};
  EXPECT_EQ(text_of(answer), " ok    run.pickle, host memory\n");
}

TEST(CheckText, WhatPassedIsALineAfterWhatDidNot) {
  CheckAnswer answer = worse_run();
  answer.entries.insert(answer.entries.begin(), EntryCheck{.trace = "a.csv"});
  answer.entries[0].values = {value_of("ooms", {.baseline = 0, .value = 0}),
                              value_of("gap_bytes", {.baseline = 4 * kMiB, .value = 3 * kMiB})};
  const std::string text = text_of(answer);
  EXPECT_TRUE(text.starts_with(" run.pickle\n FAIL"));
  EXPECT_TRUE(
      says(text, "\n ok    a.csv: OOMs 0 (0 %, limit 0), gap 3 MiB (-25.0 %, limit 4.1 MiB)\n"));
}

TEST(CheckText, OtherVersionsThanTheBaselinesAreSaid) {
  CheckAnswer answer = worse_run();
  answer.entries[0].versions = {"0.2.0", "2.15.0"};
  EXPECT_FALSE(says(text_of(answer), "was made by"));
  answer.entries[0].baseline_versions = {"0.2.0", "2.9.0"};
  EXPECT_TRUE(says(text_of(answer), "made by the rules of PyTorch 2.9.0; this check uses"));
  EXPECT_FALSE(says(text_of(answer), "memreplay 0.2.0"));
  answer.entries[0].baseline_versions = {"0.1.0", ""};
  EXPECT_TRUE(says(text_of(answer), "made by memreplay 0.1.0; this check is by 0.2.0."));
}

TEST(CheckText, WhatWasInterruptedDidNotPass) {
  CheckAnswer answer = worse_run();
  answer.entries.clear();
  answer.interrupted = true;
  EXPECT_FALSE(answer.passed());
  EXPECT_EQ(text_of(answer),
            "\n"
            " Interrupted; 0 of 0 values were over the limit so far.\n");
}

TEST(CheckJson, HasTheKeysOfTheContract) {
  const nlohmann::json json = nlohmann::json::parse(to_json(worse_run()));
  EXPECT_EQ(json["schema"], "memreplay/1");
  EXPECT_EQ(json["passed"], false);
  const nlohmann::json& metric = json["metrics"][0];
  EXPECT_EQ(metric["name"], "peak_reserved_bytes");
  EXPECT_EQ(metric["baseline"], 5100 * kMiB);
  EXPECT_EQ(metric["value"], 5328 * kMiB);
  EXPECT_EQ(metric["limit"], 5202 * kMiB);
  EXPECT_EQ(metric["passed"], false);
  EXPECT_EQ(metric["first_event_over"], 1902);
  EXPECT_TRUE(json["metrics"][1]["first_event_over"].is_null());
  EXPECT_EQ(json["entries"][0]["grown"].size(), 2u);
  EXPECT_TRUE(json["entries"][0]["grown"][1]["baseline_bytes"].is_null());
}

TEST(CheckJson, NamesAreThoseOfARun) {
  const nlohmann::json run = nlohmann::json::parse(dump(JsonFields::of(memreplay::Run{})));
  for (const CheckedMetric& metric : checked_metrics()) {
    EXPECT_TRUE(run.contains(metric.name)) << metric.name;
  }
}

TEST(CheckMarkdown, PutsWhatIsOverFirst) {
  CheckAnswer answer = worse_run();
  answer.entries.insert(answer.entries.begin(), EntryCheck{.trace = "a|b.csv"});
  answer.entries[0].values = {value_of("ooms", {.baseline = 0, .value = 0})};
  EXPECT_EQ(to_markdown(answer),
            "**memreplay check**: 1 of 3 values is over its limit.\n\n"
            "| trace | metric | baseline | value | limit | change | result |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | --- |\n"
            "| `run.pickle` | peak reserved | 5100 MiB | 5328 MiB | 5202 MiB | +4.5 % | **over**, "
            "first above at event 1,902, step 3 |\n"
            "| `a\\|b.csv` | OOMs | 0 | 0 | 0 | 0 % | ok |\n"
            "| `run.pickle` | peak allocated | 5178 MiB | 5179 MiB | 5282 MiB | +0.0 % | ok |\n\n"
            "- `run.pickle`: `model.py:88 MLP.forward` grew by 96 MiB\n"
            "- `run.pickle`: `loss.py:12 cross_entropy` grew by 32 MiB at most\n");
}

TEST(CheckJunit, IsATestCaseForEachValue) {
  CheckAnswer answer = worse_run();
  answer.entries[0].grown.clear();
  EXPECT_EQ(
      to_junit(answer),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"memreplay check\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">\n"
      "  <testcase classname=\"run.pickle\" name=\"peak_reserved_bytes\">\n"
      "    <failure type=\"over the limit\" message=\"peak reserved 5328 MiB &gt; 5202 MiB "
      "(baseline 5100 MiB + 2 %; +4.5 %)\">peak reserved 5328 MiB &gt; 5202 MiB (baseline 5100 MiB "
      "+ 2 %; +4.5 %)\n"
      "first above at event 1,902, step 3\n"
      "no call site holds more at the allocated peak than in the baseline</failure>\n"
      "  </testcase>\n"
      "  <testcase classname=\"run.pickle\" name=\"peak_allocated_bytes\"/>\n"
      "</testsuite>\n");
}

TEST(CheckJunit, EscapesWhatXmlDoesNotTake) {
  CheckAnswer answer = worse_run();
  answer.entries[0].trace = "a<b>&\"c\"\x01\xff.csv";
  answer.entries[0].gpu = 1;
  EXPECT_TRUE(says(to_junit(answer),
                   "classname=\"a&lt;b&gt;&amp;&quot;c&quot;\\x01\\xff.csv\" "
                   "name=\"peak_reserved_bytes (gpu 1, torch)\""));
}

TEST(CheckTable, HasExactFigures) {
  const Table table = to_table(worse_run());
  EXPECT_EQ(table.rows[0], (std::vector<std::string>{
                               "run.pickle", "0", "torch", "peak_reserved_bytes", "5347737600",
                               "2%", "5454692352", "5586812928", "false", "1902", "3"}));
  EXPECT_EQ(table.rows[1].back(), "");
}

TEST(UpdateText, SaysWhatChanged) {
  UpdateAnswer answer;
  EntryUpdate& fresh = answer.entries.emplace_back(EntryUpdate{{.trace = "a.csv"}});
  fresh.kind = EntryUpdate::Kind::fresh;
  fresh.changes = {{&checked_metric("ooms"), std::nullopt, 0}};
  EntryUpdate& changed = answer.entries.emplace_back(EntryUpdate{{.trace = "b.csv"}});
  changed.kind = EntryUpdate::Kind::changed;
  changed.changes = {{&checked_metric("peak_reserved_bytes"), 5 * kMiB, 6 * kMiB},
                     {&checked_metric("ooms"), 3, std::nullopt}};
  answer.entries.emplace_back(EntryUpdate{{.trace = "c.csv"}});
  EXPECT_EQ(to_text(answer, {}),
            " new      a.csv\n"
            "          OOMs 0\n"
            " changed  b.csv\n"
            "          peak reserved 5 MiB -> 6 MiB, OOMs no longer there\n"
            " same     c.csv\n");
}

}  // namespace
}  // namespace memreplay
