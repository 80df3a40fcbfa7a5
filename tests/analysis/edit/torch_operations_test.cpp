#include <gtest/gtest.h>

#include "analysis/edit/programs.hpp"
#include "analysis/edit/segments.hpp"

namespace memreplay {
namespace {

/// Who asked for memory, innermost frame first.
Recording asked_from(const std::vector<std::string>& frames) {
  return ProgramWriter().at(frames).ask(1).recording();
}

TEST(TorchOperations, AreToldByTheirFrames) {
  const Recording linear =
      asked_from({"site-packages/torch/nn/modules/linear.py:134 forward", "models.py:3 forward"});
  const std::uint32_t stack = linear.traces.front().stacks.front();
  EXPECT_TRUE(saves_weights(linear, stack));
  EXPECT_TRUE(needs_no_result(linear, stack));
  EXPECT_FALSE(needs_no_input(linear, stack));
  const Recording dropout = asked_from({"torch/nn/functional.py:9 dropout", "models.py:3 forward"});
  EXPECT_TRUE(needs_no_input(dropout, stack));
  EXPECT_FALSE(saves_weights(dropout, stack));
  EXPECT_FALSE(needs_no_result(dropout, stack));
}

TEST(TorchOperations, OtherCodeOfThatNameIsNone) {
  const Recording own = asked_from({"models/linear.py:134 forward", "models.py:3 embedding"});
  const std::uint32_t stack = own.traces.front().stacks.front();
  EXPECT_FALSE(saves_weights(own, stack));
  EXPECT_FALSE(needs_no_result(own, stack));
}

}  // namespace
}  // namespace memreplay
