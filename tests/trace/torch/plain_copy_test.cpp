#include "trace/torch/plain_copy.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "trace/pickle_bytes.hpp"
#include "trace/snapshot_copies.hpp"

namespace memreplay {
namespace {

const std::string kLong = "\x8a"s;

std::string with(const std::string& items) {
  return kProto4 + dict(text("segments") + kList + items) + kStop;
}

std::string as_json(const std::string& bytes) {
  return copy_of<JsonWriter>(TemporaryFile(bytes, ".pickle").path());
}

std::string refusal(const std::string& bytes) {
  try {
    as_json(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(PlainCopy, EveryBundledSnapshotIsReadAgainAsItWas) {
  for (const auto& path : bundled_snapshots()) {
    const Recording original = recording_of(path);
    const TemporaryFile pickled(copy_of<PickleWriter>(path), ".pickle");
    const TemporaryFile json(copy_of<JsonWriter>(path), ".json");
    EXPECT_EQ(recording_of(pickled.path()), original) << path;
    EXPECT_EQ(recording_of(json.path()), original) << path;
    const TemporaryFile back(copy_of<PickleWriter>(json.path()), ".pickle");
    EXPECT_EQ(recording_of(back.path()), original) << path;
    EXPECT_EQ(copy_of<JsonWriter>(json.path()), copy_of<JsonWriter>(path)) << path;
    EXPECT_LE(std::filesystem::file_size(pickled.path()), std::filesystem::file_size(path)) << path;
    EXPECT_LE(std::filesystem::file_size(back.path()), std::filesystem::file_size(path)) << path;
  }
}

TEST(PlainCopy, KeysThatNoReaderKnowsAreKept) {
  EXPECT_EQ(
      as_json(with(text("new") + dict(text("x") + list("N\x88\x89"s)) + text("empty") + ")"s)),
      "{\"segments\":[],\"new\":{\"x\":[null,true,false]},\"empty\":[]}\n");
}

TEST(PlainCopy, NumbersBeyond64BitsAreKept) {
  const std::string two_to_64 = kLong + "\x09\0\0\0\0\0\0\0\0\x01"s;
  EXPECT_EQ(as_json(with(text("a") + two_to_64 + text("b") + "L-36893488147419103232L\n"s)),
            "{\"segments\":[],\"a\":18446744073709551616,\"b\":-36893488147419103232}\n");
}

TEST(PlainCopy, AnObjectInSeveralPlacesIsWrittenOnce) {
  const std::string once = text("x") + kList + kMemoize + "N"s + kAppend;
  const TemporaryFile file(with(once + text("y") + get(0)), ".pickle");
  const std::string copy = copy_of<PickleWriter>(file.path());
  EXPECT_EQ(std::count(copy.begin(), copy.end(), 'N'), 1);
  EXPECT_EQ(copy_of<JsonWriter>(file.path()), "{\"segments\":[],\"x\":[null],\"y\":[null]}\n");
}

TEST(PlainCopy, AnObjectInOnePlaceIsNotRememberedForOthers) {
  const TemporaryFile file(with(text("x") + kList + "N"s + kAppend), ".pickle");
  const std::string copy = copy_of<PickleWriter>(file.path());
  EXPECT_EQ(std::count(copy.begin(), copy.end(), '\x94'), 2) << "the texts alone";
}

TEST(PlainCopy, PoolIdsAreTuplesAgainAndEqualStacksOneObject) {
  const std::string frames = R"("frames": [{"name": "f", "filename": "a.py", "line": 1}])";
  const TemporaryFile json(R"({"device_traces": [[{"pool_id": [0, 1], )" + frames +
                               R"(}, {"pool_id": [0, 1], )" + frames + "}]]}",
                           ".json");
  const std::string copy = copy_of<PickleWriter>(json.path());
  EXPECT_NE(copy.find("(K\0K\1t"s), std::string::npos);
  EXPECT_EQ(copy.find("a.py"), copy.rfind("a.py"));
  EXPECT_EQ(std::count(copy.begin(), copy.end(), '}'), 4) << "the root, two entries and one frame";
}

TEST(PlainCopy, WhatIsNoSnapshotIsRefused) {
  EXPECT_NE(refusal(kProto4 + dict(text("a") + "N"s) + kStop).find("not a PyTorch snapshot"),
            std::string::npos);
}

TEST(PlainCopy, ListsThatHoldThemselvesOrRepeatBeyondMeasureAreRefused) {
  EXPECT_NE(refusal(with(text("x") + kList + kMemoize + get(0) + kAppend)).find("1000 deep"),
            std::string::npos);
  std::string bomb = kList + kMemoize;
  for (unsigned char level = 0; level < 30; ++level) {
    std::string copies;
    for (int i = 0; i < 10; ++i) copies += get(level);
    bomb += kList + kMemoize + kMark + copies + kAppends;
  }
  EXPECT_NE(refusal(with(text("x") + list(bomb))).find("repeats itself too often"), std::string::npos);
}

TEST(PlainCopy, ACsvHasNothingToWriteBack) {
  const TemporaryFile csv("op,id,size\na,0,512\n", ".csv");
  EXPECT_THROW(copy_of<PickleWriter>(csv.path()), UsageError);
}

}  // namespace
}  // namespace memreplay
