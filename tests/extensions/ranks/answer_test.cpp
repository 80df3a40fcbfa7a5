#include "extensions/ranks/answer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// Ranks that ask for some blocks, one after the other.
class RanksTest : public testing::Test {
 protected:
  RanksTest() : folder_(fs::temp_directory_path() / ("ranks_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~RanksTest() override { fs::remove_all(folder_); }

  void rank(int number, const std::vector<int>& mebibytes) {
    std::ofstream file(folder_ / ("rank" + std::to_string(number) + ".csv"));
    file << "op,id,size\n";
    for (std::size_t i = 0; i < mebibytes.size(); ++i) {
      file << "a," << i << ',' << mebibytes[i] * kMiB << '\n';
    }
  }
  RanksPart part(std::size_t number = 1, std::size_t of = 1) const {
    return ranks_part({.input = {.paths = {folder_.string()}},
                       .strategies = {parse_strategy("torch"), parse_strategy("direct")},
                       .jobs = 2,
                       .shard = {number, of}},
                      {});
  }
  RanksAnswer answered() const { return answer(part()); }
  /// As another machine reads it.
  RanksPart sent(const RanksPart& part) const {
    const std::string path = folder_.string() + ".part";
    std::ofstream(path) << part_text(part);
    const RanksPart read = read_part(path);
    fs::remove(path);
    return read;
  }

  fs::path folder_;
};

TEST_F(RanksTest, TheWorstIsFirstAndTheSpreadNamesRanks) {
  rank(0, {40});
  rank(1, {80});
  rank(2, {60});
  const RanksAnswer ranks = answered();
  EXPECT_EQ(ranks.part.rows[0].rank, 1u);
  EXPECT_EQ(ranks.part.rows[2].rank, 0u);
  const Spread& peak = ranks.under[0].spreads[0];
  EXPECT_EQ(peak.min, 40 * kMiB);
  EXPECT_EQ(peak.median, 60 * kMiB);
  EXPECT_EQ(peak.max, 80 * kMiB);
  EXPECT_EQ(peak.min_rank, 0u);
  EXPECT_EQ(peak.max_rank, 1u);
}

TEST_F(RanksTest, WhoDepartsIsNamedWithEventAndRequest) {
  for (const int number : {0, 1, 3}) rank(number, {40, 50, 60});
  rank(2, {40, 51, 60});
  const RanksAnswer ranks = answered();
  ASSERT_EQ(ranks.classes.size(), 2u);
  EXPECT_EQ(ranks.classes[0].ranks, (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_FALSE(ranks.classes[0].departure);
  const auto& departure = ranks.classes[1].departure;
  ASSERT_TRUE(departure);
  EXPECT_EQ(departure->event, 1u);
  EXPECT_EQ(departure->call->size, 51 * kMiB);
  EXPECT_EQ(departure->twin_call->size, 50 * kMiB);
}

TEST_F(RanksTest, ARecordingThatEndsEarlyDepartsAtItsEnd) {
  rank(0, {40, 50, 60});
  rank(1, {40, 50, 60});
  rank(2, {40, 50});
  const RanksAnswer ranks = answered();
  const auto& departure = ranks.classes.at(1).departure;
  ASSERT_TRUE(departure);
  EXPECT_EQ(departure->event, 2u);
  EXPECT_FALSE(departure->call);
  EXPECT_TRUE(departure->twin_call);
}

TEST_F(RanksTest, WhoBeginsLikeNobodyDepartsNowhere) {
  rank(0, {40, 50});
  rank(1, {41, 50});
  EXPECT_FALSE(answered().classes.at(1).departure);
}

TEST_F(RanksTest, NeighboursOfOneClassAreStages) {
  for (int number = 0; number < 6; ++number) rank(number, {number < 3 ? 40 : 80, 10});
  rank(4, {80, 12});
  const RanksAnswer ranks = answered();
  ASSERT_EQ(ranks.stages.size(), 2u);
  EXPECT_EQ(ranks.stages[0].last, 2u);
  EXPECT_EQ(ranks.stages[1].first, 3u);
  EXPECT_EQ(ranks.stages[1].peak_reserved, 92 * kMiB);
}

TEST_F(RanksTest, ClassesThatTakeTurnsAreNoStages) {
  for (int number = 0; number < 6; ++number) rank(number, {number % 2 == 0 ? 40 : 80});
  EXPECT_TRUE(answered().stages.empty());
}

TEST_F(RanksTest, APartHasTheDeviceOfEachRank) {
  rank(0, {40});
  RanksPart found = part();
  EXPECT_FALSE(sent(found).rows[0].capacity);
  found.rows[0].capacity = 24 * kGiB;
  EXPECT_EQ(sent(found).rows[0].capacity, 24 * kGiB);
}

TEST_F(RanksTest, PartsThatDoNotBelongTogetherAreRefused) {
  for (int number = 0; number < 3; ++number) rank(number, {40});
  EXPECT_THROW(merged({part(1, 3), part(1, 3)}), UsageError);
  EXPECT_THROW(merged({part(1, 3), part(2, 2)}), UsageError);
  EXPECT_FALSE(merged({part(1, 3), part(2, 3)}).is_whole());
}

TEST_F(RanksTest, OneSettingForAllIsSearchedOnARecordingOfEachClass) {
  for (const int number : {0, 1, 2}) rank(number, {30, 40});
  rank(3, {50});
  const RanksPart found = part();
  RanksAnswer ranks = answer(found);
  tune(ranks, {.jobs = 1}, {});
  ASSERT_TRUE(ranks.tuned);
  EXPECT_EQ(ranks.tuned->traces.size(), 2u);
  EXPECT_FALSE(ranks.tuned->result.outcomes.empty());
}

TEST_F(RanksTest, TheBestStrategyHasTheLowestOfTheHighestPeaks) {
  rank(0, {1, 1});
  rank(1, {30, 40});
  const RanksAnswer ranks = answered();
  ASSERT_EQ(ranks.under.size(), 2u);
  EXPECT_EQ(ranks.under[1].strategy, "direct");
  EXPECT_EQ(ranks.part.rows[ranks.under[1].worst].rank, 1u);
  EXPECT_EQ(ranks.best, ranks.under[0].spreads[0].max <= ranks.under[1].spreads[0].max ? 0u : 1u);
}

TEST_F(RanksTest, OfSeveralDevicesTheOneThatFaresWorstIsTheRanks) {
  rank(0, {40});
  std::ofstream(folder_ / "rank1.csv") << "op,id,size,device\na,0,1048576,0\na,1,83886080,3\n";
  const RanksPart found = part();
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[1].gpu, 3);
  EXPECT_EQ(found.rows[1].runs.front().peak_requested, 80 * kMiB);
  ASSERT_EQ(found.rows[1].elsewhere.size(), 1u);
  EXPECT_EQ(found.rows[1].elsewhere[0].gpu, 0);
  EXPECT_EQ(found.rows[1].elsewhere[0].peak_reserved, 2 * kMiB);
}

TEST_F(RanksTest, ARankThatSitsOnTheCardOfAnotherHasItsOwnByNumber) {
  rank(0, {40});
  // Its larger part lies on the card of rank 0.
  std::ofstream(folder_ / "rank1.csv") << "op,id,size,device\na,0,83886080,0\na,1,1048576,1\n";
  const RanksAnswer ranks = answer(part());
  const auto guest = std::ranges::find(ranks.part.rows, 1u, &RankRow::rank);
  EXPECT_EQ(guest->home(), 1);
  ASSERT_EQ(guest->away().size(), 1u);
  EXPECT_EQ(guest->away()[0].gpu, 0);
  EXPECT_EQ(ranks.owners_of(0), (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(ranks.owners_of(1), (std::vector<std::uint64_t>{1}));
}

TEST_F(RanksTest, ARankOnDevicesThatNobodyElseHasIsNoGuest) {
  std::ofstream(folder_ / "rank0.csv") << "op,id,size,device\na,0,83886080,0\na,1,1048576,1\n";
  std::ofstream(folder_ / "rank1.csv") << "op,id,size,device\na,0,83886080,2\na,1,1048576,3\n";
  const RanksAnswer ranks = answer(part());
  for (const RankRow& row : ranks.part.rows) {
    for (const RankElsewhere& other : row.away()) EXPECT_EQ(ranks.owners_of(other.gpu).size(), 0u);
  }
}

TEST_F(RanksTest, WhyTheWorstDiedIsExplainedFromItsRecording) {
  rank(0, {40});
  rank(1, {40, 40});
  RanksQuestion question{.input = {.paths = {folder_.string()}}, .jobs = 1};
  question.setup.capacity = 64 * kMiB;
  RanksAnswer ranks = answer(ranks_part(question, {}));
  explain_worst(ranks, question, {});
  ASSERT_TRUE(ranks.why);
  EXPECT_EQ(ranks.why->explanation.cause, Cause::shortage);
  EXPECT_EQ(ranks.why->explanation.event, 1u);
  EXPECT_FALSE(ranks.why->tuned);
}

TEST_F(RanksTest, WhereNoRankDiedNothingIsExplained) {
  rank(0, {40});
  RanksAnswer ranks = answered();
  explain_worst(ranks, {}, {});
  EXPECT_FALSE(ranks.why);
}

TEST_F(RanksTest, WhatIsWrongWithAPartNamesItsFile) {
  rank(0, {40, 30});
  rank(1, {80});
  const std::string path = folder_.string() + ".bad.part";
  const std::string text = part_text(part());
  const auto complaint = [&](const std::string& what, std::size_t skipped, std::size_t dropped) {
    std::string damaged = text;
    damaged.erase(damaged.find(what) + what.size() + skipped, dropped);
    std::ofstream(path) << damaged;
    try {
      read_part(path);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint("nothing of it", 0, 0), "");
  for (const std::size_t dropped : {2u, 20u, 40u}) {
    const std::string said = complaint("\"packed\": \"", 10, dropped);
    EXPECT_TRUE(said.starts_with(path + ": streams")) << said;
  }
  fs::remove(path);
}

TEST_F(RanksTest, PartsThatDoNotBelongTogetherAreNamed) {
  rank(0, {40});
  rank(1, {80});
  std::vector<RanksPart> twice = {part(1, 2), part(1, 2)};
  twice[0].file = "a.json";
  twice[1].file = "b.json";
  try {
    merged(twice);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "shard 1/2 is in a.json and in b.json; expected each part once");
  }
}

}  // namespace
}  // namespace memreplay
