#include "strategy/torch/rules.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace memreplay::torch {
namespace {

void expect_kept(const Rules& rules) {
  for (const Rule& rule : rules) {
    if (rule.waits_for != nullptr) continue;
    SCOPED_TRACE(std::string(rule.section) + ": " + rule.sentence);
    rule.scenario();
  }
}

TEST(TorchRules, Sizes) { expect_kept(size_rules()); }
TEST(TorchRules, ThePathOfARequest) { expect_kept(path_rules()); }
TEST(TorchRules, LimitsAndReleases) { expect_kept(release_rules()); }
TEST(TorchRules, StreamsAndPools) { expect_kept(pool_rules()); }
TEST(TorchRules, ExpandableSegments) { expect_kept(expandable_rules()); }
TEST(TorchRules, Statistics) { expect_kept(statistics_rules()); }
TEST(TorchRules, WorkedCases) { expect_kept(worked_rules()); }
TEST(TorchRules, Corrections) { expect_kept(corrected_rules()); }

TEST(TorchRules, EveryNumberedRuleIsHereOrElsewhere) {
  // What the specification numbers in its sections 1 to 5, 11, 13 and 15, steps included.
  const std::set<std::string> numbered = {
      "1",     "2.1.1",  "2.1.2",  "2.1.3",  "2.2",    "2.3",   "2.4",    "2.5",    "2.6",
      "2.7",   "3.1",    "3.2",    "3.3.1",  "3.3.2",  "3.3.3", "3.3.4",  "3.3.5",  "3.3.6",
      "3.4.1", "3.4.2",  "3.4.3",  "3.4.4",  "3.4.5",  "3.4.6", "3.4.7",  "3.5",    "3.6",
      "3.7",   "3.8",    "3.9.1",  "3.9.2",  "3.9.3",  "3.9.4", "3.9.5",  "3.9.6",  "3.10",
      "3.11",  "3.12.1", "3.12.2", "3.12.3", "3.12.4", "3.13",  "3.13.1", "3.13.2", "4.1",
      "4.2",   "4.3",    "4.4",    "4.5",    "4.6",    "4.7",   "5",      "11",     "13",
      "15.1",  "15.2",   "15.3",   "15.4",   "15.5"};
  // 2.1.2 is 2.2; 2.7, 4.4 and 4.5 are about captures; 3.4.1 and 3.9.6 about the trace, 3.4.2 is
  // 4.2, 3.4.3 is section 2, 3.4.7 is 3.5, 3.9.3 is 4.7; 4.1 leaves no mark in a recording; 15.4
  // is about host memory.
  std::set<std::string> elsewhere = {"2.1.2", "2.7",   "3.4.1", "3.4.2", "3.4.3", "3.4.7",
                                     "3.9.3", "3.9.6", "4.1",   "4.4",   "4.5",   "15.4"};
  std::set<std::string> covered;
  for (const auto& rules :
       {size_rules(), path_rules(), release_rules(), pool_rules(), expandable_rules(),
        statistics_rules(), worked_rules(), corrected_rules()}) {
    for (const Rule& rule : rules) covered.insert(rule.section);
  }
  for (const std::string& section : elsewhere) EXPECT_FALSE(covered.contains(section)) << section;
  covered.merge(elsewhere);
  EXPECT_EQ(covered, numbered);
}

}  // namespace
}  // namespace memreplay::torch
