#include <gtest/gtest.h>

#include <string>

#include "trace/pages.hpp"

namespace memreplay {
namespace {

std::string lines_of(std::size_t count, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += std::string(length - 1, 'x') + '\n';
  return text;
}

TEST(Reserve, AboutAsManyLinesAsThereAreButNotFewer) {
  for (const std::size_t lines : {0, 1, 20, 5'000, 100'000}) {
    const std::size_t about = about_lines(lines_of(lines, 20));
    EXPECT_GE(about, lines);
    EXPECT_LE(about, lines + lines / 4 + kKiB);
  }
}

TEST(Reserve, LinesThatAreLongAtFirstDoNotHideThatOthersAreShort) {
  const std::string text = lines_of(2'000, 80) + lines_of(200'000, 8);
  EXPECT_GE(about_lines(text), 202'000u);
}

TEST(Reserve, NoRoomForMoreThanATextCouldHold) {
  EXPECT_EQ(about_lines(std::string(4'000, '\n')), 1'000u);
}

}  // namespace
}  // namespace memreplay
