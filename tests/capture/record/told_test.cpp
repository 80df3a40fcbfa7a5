#include <gtest/gtest.h>

#include "capture/temporary_folder.hpp"
#include "core/error.hpp"
#include "record/recording_folder.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kVirtual = R"({
 "pid": 5, "torch": "2.15.0", "used_cuda": 1, "ooms": 2, "steps": 0, "own_switches": 2, "rank": 3,
 "virtual": {"reads": 4, "read_at": [{"file": "a.py", "line": 12, "function": "f", "times": 4}],
  "workspaces": [{"function": "g", "times": 2, "largest_bytes": 99}], "oldest_code": 75,
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
  EXPECT_EQ(process.rank, 3);
  const VirtualFacts& facts = process.virtual_gpu.value();
  EXPECT_EQ(facts.reads, 4);
  EXPECT_EQ(facts.oldest_code, 75);
  EXPECT_EQ(facts.read_at.at(0).file, "a.py");
  EXPECT_EQ(facts.read_at.at(0).line, 12);
  EXPECT_EQ(facts.workspaces.at(0).largest, 99);
  EXPECT_EQ(facts.first_refusals.at(0).number, 7);
  EXPECT_EQ(facts.neutral_calls.at("cublasCreate_v2"), 6);
}

TEST(Told, MayLackARankAndAVirtualDevice) {
  const TemporaryFolder folder;
  const RecordedProcess process = told_in(folder.write(
      "5.json",
      R"({"pid": 5, "torch": "2", "used_cuda": 0, "ooms": 0, "steps": 0, "own_switches": 0})"));
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

}  // namespace
}  // namespace memreplay
