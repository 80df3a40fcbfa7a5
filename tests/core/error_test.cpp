#include "core/error.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(InputErrors, SayTheFileThePlaceAndWhatIsWrong) {
  const InputError error("run.csv", "14:9", "no size; expected bytes");
  EXPECT_STREQ(error.what(), "run.csv:14:9: no size; expected bytes");
  EXPECT_EQ(error.file(), "run.csv");
  EXPECT_EQ(error.place(), "14:9");
  EXPECT_EQ(error.message(), "no size; expected bytes");
}

TEST(InputErrors, SetAPlaceInWordsApart) {
  EXPECT_STREQ(InputError("run.pickle", "byte 7", "is cut short").what(),
               "run.pickle: byte 7: is cut short");
}

}  // namespace
}  // namespace memreplay
