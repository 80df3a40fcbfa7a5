#include "run/rank_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

class RankFilesTest : public testing::Test {
 protected:
  RankFilesTest()
      : folder_(fs::temp_directory_path() / ("rank_files_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~RankFilesTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text = "op,id,size\na,1,10\n") {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  RankFiles found() const { return rank_files({folder_.string()}); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const RankFile& file : found().files) {
      names.push_back(fs::relative(file.path, folder_).string());
    }
    return names;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

TEST(RankOfPath, IsReadFromTheNamesThatPeopleGive) {
  EXPECT_EQ(rank_of_path("oom_rank3.pickle"), 3u);
  EXPECT_EQ(rank_of_path("snapshot_rank-12.pickle"), 12u);
  EXPECT_EQ(rank_of_path("snapshot_oom_rank-7.pickle"), 7u);
  EXPECT_EQ(rank_of_path("rank_05.pickle.gz"), 5u);
  EXPECT_EQ(rank_of_path("run.rank007.pickle"), 7u);
  EXPECT_EQ(rank_of_path("Rank=4.2026-11-23.pickle"), 4u);
  EXPECT_EQ(rank_of_path("snapshot_3.pickle"), 3u);
  EXPECT_EQ(rank_of_path("iter100/7.pickle.zst"), 7u);
  EXPECT_EQ(rank_of_path("rank2/step_100/run.pickle"), 2u);
  EXPECT_EQ(rank_of_path("rank2/local_rank1.pickle"), 1u);
}

TEST(RankOfPath, IsNothingWhereTheNumberMeansSomethingElse) {
  EXPECT_FALSE(rank_of_path("oom.pickle"));
  EXPECT_FALSE(rank_of_path("frank3.pickle"));
  EXPECT_FALSE(rank_of_path("gpt-s1.default.pickle"));
  EXPECT_FALSE(rank_of_path("dp0_tp1.pickle"));
}

TEST_F(RankFilesTest, RanksCountAsNumbers) {
  for (const char* name : {"oom_rank10.csv", "oom_rank9.csv", "oom_rank0.csv"}) write(name);
  EXPECT_EQ(names(), Names({"oom_rank0.csv", "oom_rank9.csv", "oom_rank10.csv"}));
  EXPECT_EQ(found().ranks_from, RanksFrom::names);
  EXPECT_EQ(found().files.back().rank, 10u);
}

TEST_F(RankFilesTest, OtherFilesAreCountedAndWhatIsHiddenIsNot) {
  write("a/rank0.csv");
  write("rank0.log", "nothing of a recording\n");
  write(".out.json.part");
  write(".git/rank1.csv");
  EXPECT_EQ(names(), Names({"a/rank0.csv"}));
  ASSERT_EQ(found().others.size(), 1u);
  EXPECT_TRUE(found().others[0].ends_with("rank0.log"));
}

TEST_F(RankFilesTest, OfTensorBoardsProfilesTheNewestRunCounts) {
  write("plugins/profile/2026_11_27_09_00_00/host-a.xplane.pb");
  write("plugins/profile/2026_11_28_08_00_00/host-a.xplane.pb");
  write("plugins/profile/2026_11_28_08_00_00/host-b.xplane.pb");
  EXPECT_EQ(names(), (Names{"plugins/profile/2026_11_28_08_00_00/host-a.xplane.pb",
                            "plugins/profile/2026_11_28_08_00_00/host-b.xplane.pb"}));
}

TEST_F(RankFilesTest, WithoutRanksInTheNamesTheOrderCounts) {
  write("b.csv");
  write("a.csv");
  write("c_rank7.csv");
  EXPECT_EQ(names(), Names({"a.csv", "b.csv", "c_rank7.csv"}));
  EXPECT_EQ(found().ranks_from, RanksFrom::order);
  EXPECT_EQ(found().files[2].rank, 2u);
}

TEST_F(RankFilesTest, ANumberThatAllShareIsNoRank) {
  write("hosta_2026.csv");
  write("hostb_2026.csv");
  EXPECT_EQ(found().ranks_from, RanksFrom::order);
}

TEST_F(RankFilesTest, TwoRecordingsOfOneRankAreRefused) {
  write("a/rank3.csv");
  write("b/rank3.csv");
  EXPECT_THROW(found(), UsageError);
}

TEST_F(RankFilesTest, AnEmptyFileIsARecordingThatCannotBeRead) {
  write("rank0.csv", "");
  EXPECT_EQ(found().files.size(), 1u);
}

}  // namespace
}  // namespace memreplay
