#include "core/text.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(ParseSize, ReadsUnitsAsPowersOfTwo) {
  EXPECT_EQ(parse_size("1000"), 1000u);
  EXPECT_EQ(parse_size("24GiB"), 24 * kGiB);
  EXPECT_EQ(parse_size("24G"), 24 * kGiB);
  EXPECT_EQ(parse_size("1.5GiB"), 3 * kGiB / 2);
  EXPECT_EQ(parse_size("512K"), 512 * kKiB);
}

TEST(ParseSize, TakesWhatNoDeviceReachesForFourExbibytes) {
  EXPECT_EQ(parse_size("18446744073709551615"), Bytes{1} << 62);
  EXPECT_EQ(parse_size("5000000.5T"), Bytes{1} << 62);
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* bad :
       {"", "G", "-1", "4k6", "1.5", "1e3", "24GB", "99999999999999999999", "17000000T"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
}

TEST(ParseWhole, RefusesSignsBlanksAndOverflow) {
  EXPECT_EQ(parse_whole("18446744073709551615"), UINT64_MAX);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "18446744073709551616"}) {
    EXPECT_EQ(parse_whole(bad), std::nullopt) << bad;
  }
}

TEST(HumanSize, ShowsMebibytesUpToFourDigits) {
  EXPECT_EQ(human_size(0), "0 B");
  EXPECT_EQ(human_size(800), "800 B");
  EXPECT_EQ(human_size(790 * kKiB), "790 KiB");
  EXPECT_EQ(human_size(1500), "1.5 KiB");
  EXPECT_EQ(human_size(6 * kMiB), "6 MiB");
  EXPECT_EQ(human_size(3702 * kKiB), "3.6 MiB");
  EXPECT_EQ(human_size(5184 * kMiB), "5184 MiB");
  EXPECT_EQ(human_size(9999 * kMiB), "9999 MiB");
  EXPECT_EQ(human_size(10000 * kMiB), "9.77 GiB");
  EXPECT_EQ(human_size(10202 * kMiB), "9.96 GiB");
  EXPECT_EQ(human_size(Bytes{12} * kGiB + 300 * kMiB), "12.3 GiB");
  EXPECT_EQ(human_size(24 * kGiB), "24 GiB");
}

TEST(HumanCount, GroupsByThousands) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(1234567), "1,234,567");
}

TEST(DidYouMean, NamesTheNearestAndOnlyANearOne) {
  const std::vector<std::string> known{"torch", "bump", "direct"};
  EXPECT_EQ(did_you_mean("torhc", known), "; did you mean 'torch'?");
  EXPECT_EQ(did_you_mean("elephant", known), "");
  EXPECT_EQ(did_you_mean("torchbearer", known), "");
  EXPECT_EQ(did_you_mean("to", known), "");
  EXPECT_EQ(did_you_mean(std::string(std::size_t{1} << 20, 't'), known), "");
}

TEST(InputError, PutsLinesCloseToTheFileAndWordsApart) {
  EXPECT_STREQ(InputError("a.csv", "14:9", "size is '4k6'").what(), "a.csv:14:9: size is '4k6'");
  EXPECT_STREQ(InputError("a.pickle", "byte 7", "cut off").what(), "a.pickle: byte 7: cut off");
  EXPECT_STREQ(InputError("a.pickle", "", "is empty").what(), "a.pickle: is empty");
}

TEST(ExactSize, LosesNothing) {
  EXPECT_EQ(exact_size(15618 * kMiB), "15618 MiB");
  EXPECT_EQ(exact_size(3 * kKiB), "3 KiB");
  EXPECT_EQ(exact_size(1000), "1000 B");
  EXPECT_EQ(exact_size(0), "0 B");
}

}  // namespace
}  // namespace memreplay
