#include "record/recording_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "record/answer.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kVirtual = R"({
 "pid": 5, "torch": "2.15.0", "used_cuda": 1, "ooms": 2, "steps": 0, "pinned": 7, "own_switches": 2, "rank": 3,
 "write_error": "no space",
 "virtual": {"reads": 4, "read_at": [{"file": "a.py", "line": 12, "function": "f", "times": 4}],
  "workspaces": [{"function": "g", "times": 2, "largest_bytes": 99}],
  "cudnn": {"version": "9.19.0", "graphs": 3, "unanswered": 1, "why": "w",
   "timed": 2, "least_bytes": 5, "most_bytes": 7}, "oldest_code": 75,
  "requests": 8, "refusals": 1,
  "first_refusals": [{"request": 7, "bytes": 512}], "neutral_calls": {"cublasCreate_v2": 6}}})";

std::string complaint_of(std::string_view content) {
  const TemporaryFolder folder;
  const auto path = folder.write("5.json", content);
  try {
    told_in(path);
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), path);
    return error.place() + ": " + error.message();
  }
  return "";
}

TEST(Told, IsWhatAProcessWrote) {
  const TemporaryFolder folder;
  const RecordedProcess process = told_in(folder.write("5.json", kVirtual));
  EXPECT_EQ(process.pid, 5);
  EXPECT_EQ(process.torch, "2.15.0");
  EXPECT_TRUE(process.used_cuda);
  EXPECT_EQ(process.ooms, 2);
  EXPECT_EQ(process.pinned, 7);
  EXPECT_EQ(process.rank, 3);
  EXPECT_EQ(process.write_error, "no space");
  const VirtualFacts& facts = process.virtual_gpu.value();
  EXPECT_EQ(facts.reads, 4);
  EXPECT_EQ(facts.oldest_code, 75);
  EXPECT_EQ(facts.read_at.at(0).file, "a.py");
  EXPECT_EQ(facts.read_at.at(0).line, 12);
  EXPECT_EQ(facts.workspaces.at(0).largest, 99);
  EXPECT_EQ(facts.cudnn.version, "9.19.0");
  EXPECT_EQ(facts.cudnn.graphs, 3);
  EXPECT_EQ(facts.cudnn.unanswered, 1);
  EXPECT_EQ(facts.cudnn.why, "w");
  EXPECT_EQ(facts.cudnn.timed, 2);
  EXPECT_EQ(facts.cudnn.most, 7);
  EXPECT_EQ(facts.cudnn.least, 5);
  EXPECT_EQ(facts.first_refusals.at(0).number, 7);
  EXPECT_EQ(facts.neutral_calls.at("cublasCreate_v2"), 6);
}

TEST(Told, MayLackARankAndAVirtualDevice) {
  const TemporaryFolder folder;
  const RecordedProcess process = told_in(folder.write(
      "5.json",
      R"({"pid": 5, "torch": "2", "used_cuda": 0, "ooms": 0, "steps": 0, "pinned": 0, "own_switches": 0})"));
  EXPECT_EQ(process.rank, std::nullopt);
  EXPECT_FALSE(process.virtual_gpu);
}

TEST(Told, IsRefusedWithItsPlace) {
  EXPECT_TRUE(complaint_of("{").starts_with("1:2: "));
  EXPECT_EQ(complaint_of("{}"), ": has no key 'pid'");
  EXPECT_EQ(complaint_of(R"({"pid": -1})").substr(0, 3), "pid");
  std::string wrong(kVirtual);
  wrong.replace(wrong.find("512"), 3, "\"x\"");
  EXPECT_EQ(complaint_of(wrong).substr(0, 31), "virtual.first_refusals[0].bytes");
}

TEST(Told, ThatIsNotThereIsAnError) { EXPECT_THROW(told_in("/nowhere/5.json"), InputError); }

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
              R"(,"torch":"2.9.1","ooms":1,"used_cuda":1,"steps":3,"pinned":0,"own_switches":0)" +
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

TEST_F(RecordingFolderTest, KnowsWhoWasCutOffWhileItTold) {
  RecordingFolder folder(target("run.pickle"));
  process(folder, 12);
  leave(folder, "12.told", "");  // its recording is whole
  tell(folder, 13);
  leave(folder, "13.told", "");
  leave(folder, "14.told", "{");
  const auto processes = folder.collect();
  ASSERT_EQ(processes.size(), 3);
  EXPECT_EQ(processes[0].write_error, "");
  for (const int one : {1, 2}) {
    EXPECT_EQ(processes[one].pid, 12 + one);
    EXPECT_TRUE(processes[one].write_error.starts_with("it was cut off"));
  }
  EXPECT_EQ(files(), (Files{{"run.pickle", "12"}}));
}

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

TEST_F(RecordingFolderTest, TakesNothingElseForARecording) {
  RecordingFolder folder(target("run.pickle"));
  process(folder, 12);
  for (const char* name : {"run.pickle", "12x.pickle", "99999999999999999999999.pickle",
                           "notes.json", "-1.json", ".pickle", ".json"}) {
    leave(folder, name, "x");
  }
  fs::create_directory(folder.path() / "13.pickle");
  fs::create_symlink("12.pickle", folder.path() / "14.pickle");
  EXPECT_EQ(folder.collect().size(), 1);
  EXPECT_EQ(files(), (Files{{"run.pickle", "12"}}));
}

TEST_F(RecordingFolderTest, StaysForWhoeverStillWrites) {
  fs::path path;
  {
    RecordingFolder folder(target("run.pickle"));
    path = folder.path();
    folder.keep();
    folder.collect();
  }
  EXPECT_TRUE(fs::is_directory(path));
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
