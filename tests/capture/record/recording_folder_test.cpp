#include "record/recording_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "record/answer.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

/// What processes leave in the folder, and where it is gathered.
class RecordingFolderTest : public testing::Test {
 protected:
  std::string target(const std::string& name) const { return (home.path() / name).string(); }

  static void leave(const RecordingFolder& folder, const std::string& name,
                    const std::string& content) {
    std::ofstream(folder.path() / name) << content;
  }

  /// A process that wrote its recording, with the pid as content, and told.
  static void process(const RecordingFolder& folder, int pid, const std::string& rank = "") {
    const std::string number = std::to_string(pid);
    leave(folder, number + ".pickle", number);
    tell(folder, pid, rank);
  }

  static void tell(const RecordingFolder& folder, int pid, const std::string& rank = "") {
    leave(folder, std::to_string(pid) + ".json",
          R"({"pid":)" + std::to_string(pid) +
              R"(,"torch":"2.9.1","ooms":1,"used_cuda":1,"steps":3,"own_switches":0)" +
              (rank.empty() ? "" : R"(,"rank":)" + rank) + "}");
  }

  /// Each file beside the target with its content.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::directory_iterator(home.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      found[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
    }
    return found;
  }

  using Files = std::map<std::string, std::string>;
  TemporaryFolder home;
};

TEST_F(RecordingFolderTest, GivesOneRecordingTheNameThatWasAskedFor) {
  RecordingFolder folder(target("run.pickle"));
  process(folder, 12);
  const auto processes = folder.collect();
  ASSERT_EQ(processes.size(), 1);
  EXPECT_EQ(processes[0].path, target("run.pickle"));
  EXPECT_EQ(processes[0].torch, "2.9.1");
  EXPECT_EQ(processes[0].steps, 3);
  EXPECT_EQ(files(), (Files{{"run.pickle", "12"}}));
}

TEST_F(RecordingFolderTest, IsGoneWithItsObject) {
  fs::path path;
  {
    RecordingFolder folder(target("run.pickle"));
    path = folder.path();
    EXPECT_TRUE(fs::is_directory(path));
    EXPECT_EQ(path.parent_path(), home.path());
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RecordingFolderTest, StaysWithWhatIsInItUntilThatStandsElsewhere) {
  fs::path path;
  {
    const RecordingFolder folder(target("run.pickle"));
    path = folder.path();
    leave(folder, "7.malloc.spool", "calls");
  }
  EXPECT_TRUE(fs::exists(path / "7.malloc.spool"));
}

TEST_F(RecordingFolderTest, PutsTheRankWhereItIsAskedFor) {
  RecordingFolder folder(target("r{rank}.pickle"));
  process(folder, 7, "1");
  process(folder, 9, "0");
  const auto processes = folder.collect();
  EXPECT_EQ(processes[0].rank, 0);
  EXPECT_EQ(files(), (Files{{"r0.pickle", "9"}, {"r1.pickle", "7"}}));
}

TEST_F(RecordingFolderTest, PutsSeveralRanksBeforeTheEnding) {
  RecordingFolder folder(target("run.pickle.gz"));
  process(folder, 7, "1");
  process(folder, 9, "0");
  folder.collect();
  EXPECT_EQ(files(), (Files{{"run.pickle-rank0.gz", "9"}, {"run.pickle-rank1.gz", "7"}}));
}

TEST_F(RecordingFolderTest, TellsProcessesWithoutARankApart) {
  RecordingFolder folder(target("run.pickle"));
  process(folder, 7);
  process(folder, 9);
  folder.collect();
  EXPECT_EQ(files(), (Files{{"run-7.pickle", "7"}, {"run-9.pickle", "9"}}));
}

TEST_F(RecordingFolderTest, KeepsBothWhereARankIsThereTwice) {
  RecordingFolder folder(target("r{rank}.pickle"));
  process(folder, 7, "0");
  process(folder, 9, "0");
  folder.collect();
  EXPECT_EQ(files(), (Files{{"r0.pickle", "7"}, {"r0-9.pickle", "9"}}));
}

TEST_F(RecordingFolderTest, KeepsWhatAKilledProcessLeft) {
  RecordingFolder folder(target("run.pickle"));
  leave(folder, "12.pickle", "12");
  const auto processes = folder.collect();
  ASSERT_EQ(processes.size(), 1);
  EXPECT_EQ(processes[0].pid, 12);
  EXPECT_TRUE(processes[0].used_cuda);
  EXPECT_EQ(files(), (Files{{"run.pickle", "12"}}));
}

TEST_F(RecordingFolderTest, KeepsARecordingWhoseProcessDiedWhileItTold) {
  RecordingFolder folder(target("run.pickle"));
  leave(folder, "12.pickle", "12");
  leave(folder, "12.told", R"({"pid":)");
  EXPECT_EQ(folder.collect().size(), 1);
  EXPECT_EQ(files(), (Files{{"run.pickle", "12"}}));
}

TEST_F(RecordingFolderTest, LeavesTheTargetAloneWhereNothingWasRecorded) {
  home.write("run.pickle", "before");
  RecordingFolder folder(target("run.pickle"));
  EXPECT_TRUE(folder.collect().empty());
  tell(folder, 12);
  const auto processes = folder.collect();
  ASSERT_EQ(processes.size(), 1);
  EXPECT_EQ(processes[0].path, "");
  EXPECT_EQ(files(), (Files{{"run.pickle", "before"}}));
}

TEST_F(RecordingFolderTest, ThatSomebodyRemovedIsAnError) {
  RecordingFolder folder(target("run.pickle"));
  fs::remove_all(folder.path());
  try {
    folder.collect();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), folder.path());
  }
}

TEST_F(RecordingFolderTest, BesideATargetThatCannotBeWrittenIsRefusedAtOnce) {
  EXPECT_THROW(RecordingFolder(target("none/run.pickle")), UsageError);
  EXPECT_THROW(RecordingFolder(target("none-{rank}/run.pickle")), UsageError);
}

TEST_F(RecordingFolderTest, OfATargetThatIsAFolderIsRefusedAtOnce) {
  EXPECT_THROW(RecordingFolder(home.path().string()), UsageError);
  EXPECT_TRUE(fs::is_empty(home.path()));
}

TEST_F(RecordingFolderTest, KeepsWhatCouldNotBeMoved) {
  fs::path path;
  {
    RecordingFolder folder(target("r{rank}.pickle"));
    path = folder.path();
    process(folder, 12, "3");
    fs::create_directory(target("r3.pickle"));
    EXPECT_THROW(folder.collect(), InputError);
  }
  EXPECT_TRUE(fs::exists(path / "12.pickle"));
}

}  // namespace
}  // namespace memreplay
