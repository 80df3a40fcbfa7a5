#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extensions/ranks/ranks_report.hpp"
#include "questions/explain/phrases.hpp"

namespace memreplay {
namespace {

RankRow row(std::uint64_t rank, Bytes peak, std::uint64_t ooms = 0) {
  return {.rank = rank,
          .path = "r" + std::to_string(rank),
          .events = 9,
          .stream = {peak, 0},
          .runs = {{.strategy = "torch", .peak_reserved = peak, .ooms = ooms}}};
}

RanksAnswer two_ranks() {
  RanksAnswer answer;
  answer.part.shards = {1};
  answer.part.rows = {row(1, 200 * kMiB, 1), row(0, 100 * kMiB)};
  answer.classes = {
      {.ranks = {0}, .representative = "r0", .stream = {100 * kMiB, 0}},
      {.ranks = {1},
       .representative = "r1",
       .stream = {200 * kMiB, 0},
       .departure = Departure{.from = 0,
                              .event = 7,
                              .twin_event = 6,
                              .call = DepartingCall{"request", 20 * kMiB + 1, "a.py:1"},
                              .twin_call = DepartingCall{"request", 20 * kMiB, ""}}}};
  answer.under = {{.strategy = "torch", .worst = 0, .out_of_memory = 1}};
  for (std::size_t i = 0; i < rank_metrics().size(); ++i) {
    answer.under[0].spreads.push_back({100 * kMiB, 100 * kMiB, 200 * kMiB, 0, 1});
  }
  return answer;
}

TEST(RanksReport, RanksAreWrittenAsRuns) {
  EXPECT_EQ(ranks_text({3}), "3");
  EXPECT_EQ(ranks_text({0, 1, 2, 5}), "0-2, 5");
  EXPECT_EQ(ranks_text({0, 2, 4, 6, 8}), "0, 2 … 8 (5 ranks)");
}

TEST(RanksReport, SaysWhoDiedAndWhoDepartsInBytesWhereSizesLookAlike) {
  const std::string text = to_text(two_ranks(), {});
  EXPECT_TRUE(
      text.starts_with("Rank 1 (gpu 0) ran out of memory under torch. The other rank peaked "
                       "at 100 MiB reserved.\n"))
      << text;
  EXPECT_NE(text.find("20,971,521 B at event 7 (a.py:1)"), text.npos) << text;
  EXPECT_NE(text.find("Rank 1 reserves 100 MiB more than rank 0."), text.npos) << text;
  EXPECT_TRUE(text.find("\n   memreplay explain r1 -s torch\n") != std::string::npos) << text;
}

TEST(RanksReport, TheWorstRankHasItsVerdictInTheBeginning) {
  RanksAnswer answer = two_ranks();
  answer.why.emplace().explanation.at_oom = true;
  const std::string beginning = ranks_beginning(answer, {});
  EXPECT_NE(beginning.find("\nRank 1: " + verdict_sentence(*answer.why)), beginning.npos)
      << beginning;
  EXPECT_TRUE(to_text(answer, {}).starts_with(beginning));
}

TEST(RanksReport, RanksThatLiveAreOneLineWhereTheyAreIdentical) {
  RanksAnswer answer = two_ranks();
  RankRow twin = answer.part.rows[1];
  twin.rank = 2;
  answer.part.rows.push_back(twin);
  const std::string beginning = ranks_beginning(answer, {});
  EXPECT_NE(beginning.find("The other 2 ranks are identical and peaked at 100 MiB\nreserved."),
            beginning.npos)
      << beginning;
  EXPECT_NE(beginning.find("\n 0, 2 "), beginning.npos) << beginning;
}

TEST(RanksReport, NoRankDiedWhereAllFareAlike) {
  RanksAnswer answer = two_ranks();
  answer.part.rows = {row(0, 100 * kMiB), row(1, 100 * kMiB)};
  answer.under[0].spreads.assign(rank_metrics().size(), {100 * kMiB, 100 * kMiB, 100 * kMiB, 0, 0});
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(
      text.starts_with("No rank ran out of memory under torch. All 2 ranks are identical "
                       "and peaked at 100 MiB reserved.\n"))
      << text;
}

TEST(RanksReport, OfRanksThatLiveTheHighestIsNamed) {
  RanksAnswer answer = two_ranks();
  answer.part.rows = {row(1, 200 * kMiB), row(0, 100 * kMiB)};
  EXPECT_TRUE(ranks_beginning(answer, {})
                  .starts_with("No rank ran out of memory under torch. All 2 ranks peaked at 100 "
                               "MiB to 200 MiB reserved, "
                               "rank 1\nhighest.\n"))
      << ranks_beginning(answer, {});
}

TEST(RanksReport, OneRankAloneIsComparedWithNothing) {
  RanksAnswer answer = two_ranks();
  answer.part.rows = {row(4, 100 * kMiB)};
  answer.classes.resize(1);
  answer.under[0].spreads.assign(rank_metrics().size(), {100 * kMiB, 100 * kMiB, 100 * kMiB, 4, 4});
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(
      text.starts_with("Rank 4 did not run out of memory under torch. It peaked at 100 MiB "
                       "reserved.\n"))
      << text;
}

TEST(RanksReport, TheJsonHasTheKeysOfTheContract) {
  const auto json = nlohmann::json::parse(to_json(two_ranks()));
  EXPECT_EQ(json.at("command"), "ranks");
  EXPECT_TRUE(json.at("classes").at(0).at("departs_at_event").is_null());
  EXPECT_EQ(json.at("classes").at(1).at("departs_at_event"), 7);
  EXPECT_EQ(json.at("classes").at(1).at("asked").at("bytes"), 20 * kMiB + 1);
  EXPECT_EQ(json.at("worst").at("rank"), 1);
  EXPECT_EQ(json.at("worst").at("ooms"), 1);
  EXPECT_EQ(json.at("spread").at("peak_reserved_bytes").at("max_rank"), 1);
  EXPECT_EQ(json.at("ranks").at(0).at("runs").at(0).at("peak_reserved_bytes"), 200 * kMiB);
}

TEST(RanksReport, TheTableHasARowForEachRankAndStrategy) {
  const Table table = to_table(two_ranks());
  EXPECT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
}

}  // namespace
}  // namespace memreplay
