#include "questions/check/baseline_file.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "questions/check/tolerance.hpp"

namespace memreplay {
namespace {

Baseline two_entries() {
  Baseline baseline;
  BaselineEntry entry{.trace = "b.pickle", .gpu = 1, .setup = {"bfc", "", 4 * kGiB}};
  entry.metrics["ooms"] = {3, *parse_tolerance("1")};
  entry.from_before = FromBefore::left_out;
  entry.versions = {"0.2.0", "2.9.0"};
  baseline.add(entry);
  entry = {.trace = "a.pickle", .setup = {"torch", "2.6.0", std::nullopt}};
  entry.metrics["peak_reserved_bytes"] = {UINT64_MAX, *parse_tolerance("0.5%")};
  entry.places = PlacesHeld{.by = PlacesHeld::By::size, .places = {{"x \"y\"", 5}}, .others = 7};
  baseline.add(entry);
  return baseline;
}

TEST(BaselineFile, KeepsNamesOfWhateverBytes) {
  Baseline baseline;
  for (const char* name :
       {"caf\xe9.csv", "caf\xe8.csv", "caf\\xe9.csv", "caf\\x5cxe9", "caf\u00e9", "\\"}) {
    BaselineEntry entry{.trace = name, .setup = {"torch", "", std::nullopt}};
    entry.metrics["ooms"] = {0, *parse_tolerance("0")};
    entry.places = PlacesHeld{.places = {{name, 1}, {"\xff", 2}, {"\xfe", 3}}};
    baseline.add(entry);
  }
  const Baseline read = parse_baseline("F", baseline_text(baseline));
  ASSERT_EQ(read.entries.size(), baseline.entries.size());
  for (std::size_t i = 0; i < read.entries.size(); ++i) {
    EXPECT_EQ(read.entries[i].trace, baseline.entries[i].trace);
    EXPECT_EQ(read.entries[i].places->places, baseline.entries[i].places->places);
  }
}

// A file of one entry, in which `metrics` stands.
std::string file_with(const std::string& metrics, const std::string& more = "") {
  return R"({"schema": "memreplay-baseline/1", "entries": [{"trace": "t", "strategy": "torch", )" +
         more + R"("metrics": )" + metrics + "}]}";
}

std::string complaint(const std::string& text) {
  try {
    parse_baseline("memory.json", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(BaselineFile, IsReadAsItWasWritten) {
  const Baseline baseline = two_entries();
  const std::string text = baseline_text(baseline);
  EXPECT_EQ(parse_baseline("memory.json", text).entries, baseline.entries);
  EXPECT_EQ(baseline_text(parse_baseline("memory.json", text)), text);
}

TEST(BaselineFile, WhatTheContractHasIsEnough) {
  const Baseline baseline = parse_baseline(
      "memory.json", file_with(R"({"peak_reserved_bytes": {"value": 5, "tolerance": "2%"}})"));
  const BaselineEntry& entry = baseline.entries.at(0);
  EXPECT_EQ(entry.trace, "t");
  EXPECT_EQ(entry.gpu, 0);
  EXPECT_EQ(entry.metrics.at("peak_reserved_bytes").value, 5u);
  EXPECT_FALSE(entry.places);
  EXPECT_EQ(entry.from_before, FromBefore::unsaid);
}

TEST(BaselineFile, HowItStartsIsOneOfTwoWords) {
  const auto start = [](const std::string& word) {
    return file_with(R"({"ooms": {"value": 5}})", "\"start\": \"" + word + "\", ");
  };
  EXPECT_EQ(parse_baseline("f", start("auto")).entries[0].from_before, FromBefore::counted);
  EXPECT_EQ(parse_baseline("f", start("cold")).entries[0].from_before, FromBefore::left_out);
  EXPECT_NE(complaint(start("warm")).find("expected \"auto\" or \"cold\""), std::string::npos);
}

TEST(BaselineFile, AToleranceMayBeANumberOrMissing) {
  const Baseline baseline = parse_baseline("f", file_with(R"({"ooms": {"value": 5, "tolerance": 3},
                                        "gap_bytes": {"value": 5}})"));
  EXPECT_EQ(limit_of(5, baseline.entries[0].metrics.at("ooms").tolerance), 8u);
  EXPECT_EQ(baseline.entries[0].metrics.at("gap_bytes").tolerance.text, "2%");
}

TEST(BaselineFile, BrokenJsonIsRefusedWithLineAndColumn) {
  EXPECT_EQ(complaint("{\n  \"schema\": oops}"),
            "memory.json:2:13: is not JSON here; expected a baseline as --update writes it");
  EXPECT_TRUE(complaint("").starts_with("memory.json:1:1: is not JSON"));
  EXPECT_EQ(complaint(R"({"schema": 1e999})"),
            "memory.json: a number of this JSON is out of range; expected a baseline as --update "
            "writes it");
}

TEST(BaselineFile, WhatMeansNothingIsRefusedWithItsPlace) {
  EXPECT_EQ(complaint("[]"), "memory.json: is []; expected an object");
  EXPECT_EQ(complaint(R"({"schema": "x", "entries": []})"),
            "memory.json: schema: is \"x\"; expected \"memreplay-baseline/1\"");
  EXPECT_EQ(complaint(R"({"schema": "memreplay-baseline/1"})"),
            "memory.json: has no key 'entries'");
  EXPECT_EQ(
      complaint(file_with(R"({"ooms": {"value": -1}})")),
      "memory.json: entries[0].metrics.ooms.value: is -1; expected a whole number that is not "
      "negative");
  EXPECT_EQ(
      complaint(file_with(R"({"ooms": {"value": 1, "tolerance": "lots"}})")),
      "memory.json: entries[0].metrics.ooms.tolerance: is \"lots\"; expected a tolerance such "
      "as \"2%\", \"64MiB\" or \"0\"");
  EXPECT_EQ(complaint(file_with(R"({"ooms": {"value": 1, "tolerance": "1MiB"}})")),
            "memory.json: entries[0].metrics.ooms.tolerance: is \"1MiB\"; expected a share or a "
            "number of times");
  EXPECT_EQ(
      complaint(file_with("{}", R"("capacity_bytes": "4G", )")),
      "memory.json: entries[0].capacity_bytes: is \"4G\"; expected a whole number that is not "
      "negative");
}

TEST(BaselineFile, ATypingErrorIsNotOverlooked) {
  EXPECT_EQ(complaint(file_with(R"({"ooms": {"value": 1, "tolerence": "2%"}})")),
            "memory.json: entries[0].metrics.ooms: unknown key 'tolerence'; did you mean "
            "'tolerance'?");
  EXPECT_TRUE(complaint(file_with(R"({"oom": {"value": 1}})"))
                  .starts_with("memory.json: entries[0].metrics.oom: unknown metric 'oom'; did you "
                               "mean 'ooms'?"));
  EXPECT_EQ(complaint(file_with(R"({"ooms": {"value": 1, "value": 2}})")),
            "memory.json: key \"value\" stands twice in one object");
}

TEST(BaselineFile, AnUnknownStrategyAndASecondEntryAreRefused) {
  EXPECT_TRUE(complaint(R"({"schema": "memreplay-baseline/1", "entries": [{"trace": "t",
                            "strategy": "torhc", "metrics": {}}]})")
                  .starts_with("memory.json: entries[0].strategy: unknown strategy 'torhc'"));
  EXPECT_EQ(complaint(R"({"schema": "memreplay-baseline/1", "entries": [
      {"trace": "t", "strategy": "bfc", "metrics": {"ooms": {"value": 1}}},
      {"trace": "t", "strategy": "bfc", "metrics": {"ooms": {"value": 1}}}]})"),
            "memory.json: entries[1]: t gpu 0 under bfc is there twice");
}

TEST(BaselineFile, OneThatIsNotThereIsNone) {
  EXPECT_FALSE(read_baseline("/nonexistent/memory.json"));
  EXPECT_THROW(read_baseline("/"), InputError);
}

}  // namespace
}  // namespace memreplay
