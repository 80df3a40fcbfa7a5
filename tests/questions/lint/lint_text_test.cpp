#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/lint/lint_report.hpp"

namespace memreplay {
namespace {

LintAnswer one_of_each() {
  return {.conf = "a:1", .issues = {{.error = true, .text = "no"}, {.error = false, .text = "hm"}}};
}

TEST(LintReport, AWarningAloneIsValid) {
  LintAnswer answer = one_of_each();
  EXPECT_FALSE(answer.valid());
  answer.issues.erase(answer.issues.begin());
  EXPECT_TRUE(answer.valid());
  EXPECT_EQ(nlohmann::json::parse(to_json(answer)).at("valid"), true);
}

TEST(LintReport, EveryIssueHasItsSeverity) {
  EXPECT_EQ(to_text(one_of_each(), {}), " error   no\n warning hm\n");
  EXPECT_EQ(to_table(one_of_each()).rows[1], (std::vector<std::string>{"warning", "hm"}));
}

TEST(LintReport, WhereThereIsNoneTheSettingIsNamed) {
  EXPECT_EQ(to_text({.conf = "a:1", .issues = {}}, {}), " valid: a:1\n");
  EXPECT_EQ(to_text(LintAnswer{}, {}), " valid: the defaults\n");
}

}  // namespace
}  // namespace memreplay
