#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/read_numbers.hpp"

namespace memreplay {
namespace {

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
