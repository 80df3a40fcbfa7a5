#include "run/inputs.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay {
namespace {

const std::string kGood = MEMREPLAY_TRACES "/maxinuse-350.csv";
const std::string kOther = MEMREPLAY_TRACES "/torch/layers_4.pickle";
const std::string kMissing = MEMREPLAY_TRACES "/nobody_made_this.pickle";

TEST(Inputs, AFileThatCannotBeReadStopsThem) {
  EXPECT_THROW(Inputs({.paths = {kGood, kMissing, kOther}}), InputError);
}

TEST(Inputs, GoingOnTheOthersAreReadInTheirOrder) {
  const Inputs inputs({.paths = {kGood, kMissing, kOther}}, OnUnreadable::go_on);
  ASSERT_EQ(inputs.recordings().size(), 2u);
  ASSERT_EQ(inputs.chosen().size(), 2u);
  EXPECT_EQ(inputs.chosen()[0].recording->path, kGood);
  EXPECT_EQ(inputs.chosen()[1].recording->path, kOther);
  ASSERT_EQ(inputs.unreadable().size(), 1u);
  EXPECT_EQ(inputs.unreadable()[0].path, kMissing);
  EXPECT_TRUE(inputs.unreadable()[0].message.starts_with(kMissing + ": "));
}

TEST(Inputs, ManyFilesAreKeptInTheOrderGiven) {
  std::vector<std::string> paths;
  for (int i = 0; i < 20; ++i) paths.push_back(i % 3 == 0 ? kOther : kGood);
  const Inputs inputs({.paths = paths});
  ASSERT_EQ(inputs.recordings().size(), paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) EXPECT_EQ(inputs.recordings()[i].path, paths[i]);
}

TEST(Inputs, TheFirstFailureInTheOrderGivenIsTold) {
  std::vector<std::string> paths(8, kOther);
  paths[5] = paths[6] = kMissing + "2";
  paths[4] = kMissing + "1";
  for (int i = 0; i < 20; ++i) {
    try {
      Inputs({.paths = paths});
      FAIL() << "read what is not there";
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(kMissing + "1: ")) << error.what();
    }
  }
}

TEST(Inputs, GoingOnNothingMayBeLeft) {
  const Inputs inputs({.paths = {kMissing}}, OnUnreadable::go_on);
  EXPECT_TRUE(inputs.chosen().empty());
  EXPECT_EQ(inputs.unreadable().size(), 1u);
}

TEST(Inputs, ADeviceThatNobodyHasIsWrongUsageInAnyCase) {
  EXPECT_THROW(Inputs({.paths = {kGood}, .gpu = 7}, OnUnreadable::go_on), UsageError);
}

}  // namespace
}  // namespace memreplay
