#include "trace/snapshot/snapshot_texts.hpp"

#include <gtest/gtest.h>

#include <array>

namespace memreplay {
namespace {

TEST(SnapshotTexts, OfManyStacksEachIsFoundAgain) {
  constexpr std::uint32_t kStacks = 50'000;
  SnapshotTexts texts;
  const auto stack = [&](std::uint32_t i) {
    return texts.stack(
        std::array{texts.frame("f", "a.py", i / 2), texts.frame("g", "b.py", i % 2)});
  };
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < kStacks; ++i) numbers.push_back(stack(i));
  for (std::uint32_t i = 1; i < kStacks; ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
  for (std::uint32_t i = 0; i < kStacks; ++i) ASSERT_EQ(stack(i), numbers[i]);
}

TEST(SnapshotTexts, TheOrderOfItsFramesMakesAStack) {
  SnapshotTexts texts;
  const std::uint32_t f = texts.frame("f", "a.py", 1);
  const std::uint32_t g = texts.frame("g", "a.py", 1);
  const std::uint32_t stack = texts.stack(std::array{f, g});
  EXPECT_NE(texts.stack(std::array{g, f}), stack);
  EXPECT_NE(texts.stack(std::array{f}), stack);
  EXPECT_EQ(texts.stack(std::array{f, g}), stack);
}

TEST(SnapshotTexts, AFrameIsItsFunctionFileAndLine) {
  SnapshotTexts texts;
  const std::uint32_t frame = texts.frame("f", "a.py", 1);
  EXPECT_EQ(texts.frame("f", "a.py", 1), frame);
  EXPECT_NE(texts.frame("g", "a.py", 1), frame);
  EXPECT_NE(texts.frame("f", "b.py", 1), frame);
  EXPECT_NE(texts.frame("f", "a.py", 2), frame);
}

}  // namespace
}  // namespace memreplay
