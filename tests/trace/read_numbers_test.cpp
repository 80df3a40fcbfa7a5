#include "trace/read_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "core/text.hpp"

namespace memreplay {
namespace {

/// As the slow one reads it, which also takes capitals.
void expect_as_any(std::string text) {
  text.resize(8);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdef"), text.size());
  std::uint64_t expected = 0;
  std::from_chars(text.data(), text.data() + digits, expected, 16);
  std::uint64_t number = 0;
  EXPECT_EQ(read_short_hexadecimal(eight_characters(text), number), digits) << text;
  EXPECT_EQ(number, expected) << text;
}

TEST(ReadShortHexadecimal, TakesWhatIsDigitsAloneWhateverStandsBehind) {
  for (int first = 0; first < 256; ++first) {
    expect_as_any(std::string(1, static_cast<char>(first)) + "\n+ 1");
    for (int second = 0; second < 256; ++second) {
      const char both[] = {static_cast<char>(first), static_cast<char>(second)};
      expect_as_any(std::string(both, 2) + "\n\xFFzz");
    }
  }
}

TEST(ReadShortHexadecimal, TakesUpToEightDigits) {
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string digits;
    const std::size_t count = 1 + random() % 8;
    while (digits.size() < count) digits += "0123456789abcdef"[random() % 16];
    expect_as_any(digits + "\n");
    digits[random() % count] = static_cast<char>(random());
    expect_as_any(digits + "9");
  }
}

TEST(ReadPlainNumbers, TakesTheFirstLineOfAText) {
  std::array<std::uint64_t, 3> numbers;
  EXPECT_EQ(read_plain_numbers("1,20,9223372036854775807\n4,5,6\n", ',', numbers), 25u);
  EXPECT_EQ(numbers, (std::array<std::uint64_t, 3>{1, 20, 9'223'372'036'854'775'807}));
  EXPECT_EQ(read_plain_numbers("0 0 9999999999999999999\n", ' ', numbers), 24u);
  EXPECT_EQ(numbers, (std::array<std::uint64_t, 3>{0, 0, 9'999'999'999'999'999'999u}));
}

TEST(ReadPlainNumbers, LeavesEveryOtherLine) {
  for (const std::string_view line : {"",          "\n",          "1",
                                      "1,2,3",     "1,2\n",       "1,2,3,4\n",
                                      "1,2,3,\n",  "1,,3\n",      ",2,3\n",
                                      "1,2,\n",    "1,2,3\r\n",   " 1,2,3\n",
                                      "1, 2,3\n",  "1,2,3 \n",    "1,2 3\n",
                                      "-1,2,3\n",  "01,2,3\n",    "1,00,3\n",
                                      "1,2,0x3\n", "\"1\",2,3\n", "1,2,10000000000000000000\n",
                                      "1;2;3\n",   "1,2,3x\n"}) {
    std::array<std::uint64_t, 3> numbers;
    EXPECT_EQ(read_plain_numbers(line, ',', numbers), 0u) << line;
  }
}

TEST(ReadPlainNumbers, LooksAtNothingBehindTheText) {
  const std::string text = "12,3456789012,7\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    std::array<std::uint64_t, 3> numbers;
    // A copy of its own, so that what reads further is seen where memory is watched.
    const std::string cut(text, 0, size);
    EXPECT_EQ(read_plain_numbers(cut, ',', numbers), 0u) << cut;
  }
}

}  // namespace

}  // namespace memreplay
