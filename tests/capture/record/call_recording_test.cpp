#include <gtest/gtest.h>

#include "capture/spool/written_spool.hpp"
#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "record/answer.hpp"
#include "record/session.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;
using capture::Call;
using Pages = std::vector<capture::DrawnPage<capture::Record>>;

/// A folder that a program of two processes left.
class CallRecordingTest : public testing::Test {
 protected:
  CallRecordingTest() {
    for (const std::uint32_t process : {7U, 8U}) {
      capture::write_spool(
          spools.path() / (std::to_string(process) + ".malloc.spool"), capture::head_of(process),
          Pages{{process, {capture::record(1, Call::allocate, 64, 100 * process)}}});
    }
  }

  capture::SpoolFolder spools;
  TemporaryFolder home;
  std::string target = (home.path() / "r.mrt").string();
};

TEST_F(CallRecordingTest, OneThatCannotBeReadDoesNotHideTheOthers) {
  std::ofstream(spools.path() / "9.malloc.spool") << "";
  std::ofstream(spools.path() / "10.malloc.spool") << std::string(8192, 'x');
  const RecordAnswer is = recover(spools.path().string(), target);
  EXPECT_EQ(is.calls.size(), 2);
  EXPECT_EQ(is.calls.front().summary.peak_bytes, 800);
  ASSERT_EQ(is.failed.size(), 2);
  EXPECT_NE(is.failed[1].find("9.malloc.spool: "), std::string::npos) << is.failed[1];
  EXPECT_EQ(is.left, spools.path().string());
  EXPECT_TRUE(fs::exists(target));
}

TEST_F(CallRecordingTest, WhatCannotBeWrittenStays) {
  fs::create_directories(home.path() / "r-processes" / "7.malloc.mrt" / "in the way");
  const RecordAnswer is = recover(spools.path().string(), target);
  ASSERT_EQ(is.failed.size(), 1);
  EXPECT_NE(is.failed[0].find("7.malloc.mrt: cannot be written"), std::string::npos)
      << is.failed[0];
  EXPECT_TRUE(fs::exists(spools.path() / "7.malloc.spool"));
  fs::remove_all(home.path() / "r-processes");
  EXPECT_TRUE(recover(spools.path().string(), target).failed.empty());
  EXPECT_TRUE(fs::exists(home.path() / "r-processes" / "7.malloc.mrt"));
}

TEST_F(CallRecordingTest, AFolderWithoutCallsIsAnError) {
  EXPECT_THROW(recover(home.path().string(), target), InputError);
  EXPECT_THROW(recover((home.path() / "none").string(), target), InputError);
}

}  // namespace
}  // namespace memreplay
