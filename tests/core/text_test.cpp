#include "core/text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

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

/// Digit by digit.
std::size_t digits_of(std::string_view text, std::uint64_t& number) {
  std::size_t count = 0;
  number = 0;
  for (; count < text.size() && text[count] >= '0' && text[count] <= '9'; ++count) {
    number = number * 10 + static_cast<std::uint64_t>(text[count] - '0');
  }
  return count;
}

void expect_same_digits(const std::string& text) {
  std::uint64_t number = 0;
  std::uint64_t expected = 0;
  const std::size_t count = digits_of(text, expected);
  EXPECT_EQ(leading_digits(text, number), count) << text;
  if (count <= 19) {
    EXPECT_EQ(number, expected) << text;
  }
}

TEST(LeadingDigits, EndAtEveryOtherByteAtEveryPlace) {
  for (std::size_t size = 1; size < 27; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, '7');
        text[at] = static_cast<char>(byte);
        expect_same_digits(text);
      }
    }
  }
  expect_same_digits("");
}

TEST(LeadingDigits, AreTheNumber) {
  std::mt19937_64 draw(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string text(draw() % 24, '0');
    for (char& c : text) c = static_cast<char>('0' + draw() % 10);
    expect_same_digits(text + (draw() % 2 == 0 ? "" : ",0123456789"));
  }
}

TEST(ReadDigits, TakesUpToNineteenAndNothingElse) {
  std::uint64_t number = 0;
  EXPECT_TRUE(read_digits("9999999999999999999", number));
  EXPECT_EQ(number, 9'999'999'999'999'999'999u);
  for (const char* bad : {"", "10000000000000000000", "1 ", "-1", "0x1"}) {
    EXPECT_FALSE(read_digits(bad, number)) << bad;
  }
  EXPECT_TRUE(read_digits("17,5", 2, number));
  EXPECT_EQ(number, 17u);
  EXPECT_FALSE(read_digits("175", 2, number));
  EXPECT_FALSE(read_digits(",5", 0, number));
}

TEST(WithRest, GoesOnToTheEndOfWhatItIsAPartOf) {
  const std::string whole = "12,34,56";
  const std::string other = "12";
  EXPECT_EQ(with_rest(std::string_view(whole).substr(3, 2), whole), "34,56");
  EXPECT_EQ(with_rest(other, whole), "12");
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

TEST(LowerCase, ChangesLettersOfAsciiAlone) {
  EXPECT_EQ(lower_case("UTF-8 [@Z`a{ \xC3\x84"), "utf-8 [@z`a{ \xC3\x84");
  EXPECT_EQ(lower_case(""), "");
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
