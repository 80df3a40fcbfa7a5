#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <random>
#include <string>

#include "core/text.hpp"
#include "trace/read_numbers.hpp"

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

}  // namespace
}  // namespace memreplay
