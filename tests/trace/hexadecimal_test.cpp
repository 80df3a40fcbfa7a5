#include "trace/hexadecimal.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <random>
#include <string>

#include "core/text.hpp"

namespace memreplay {
namespace {

/// As the slow one takes it, which also takes capitals.
void expect_as_any(const std::string& digits, const std::string& behind) {
  std::uint64_t expected = 0;
  const auto [stop, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), expected, 16);
  const bool is_one = error == std::errc() && stop == digits.data() + digits.size() &&
                      digits.find_first_of("ABCDEF-") == digits.npos;
  std::uint64_t number = 0;
  const std::uint64_t text = eight_characters(digits + behind);
  EXPECT_EQ(read_short_hexadecimal(text, digits.size(), number), is_one) << digits;
  if (is_one) {
    EXPECT_EQ(number, expected) << digits;
  }
}

TEST(ReadShortHexadecimal, TakesWhatIsDigitsAloneWhateverStandsBehind) {
  for (int first = 0; first < 256; ++first) {
    expect_as_any({static_cast<char>(first)}, "\n+ 1");
    for (int second = 0; second < 256; ++second) {
      const char both[] = {static_cast<char>(first), static_cast<char>(second)};
      expect_as_any({both, 2}, "\n\xFFzz");
    }
  }
}

TEST(ReadShortHexadecimal, TakesUpToEightDigits) {
  std::mt19937 random(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string digits;
    const std::size_t count = 1 + random() % 8;
    while (digits.size() < count) digits += "0123456789abcdef"[random() % 16];
    expect_as_any(digits, "\n");
    digits[random() % count] = static_cast<char>(random());
    expect_as_any(digits, "9");
  }
}

}  // namespace
}  // namespace memreplay
