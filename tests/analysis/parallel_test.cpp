#include "analysis/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace memreplay {
namespace {

TEST(ForEachParallel, CallsEveryOneOnce) {
  std::vector<std::atomic<int>> calls(100);
  for_each_parallel(calls.size(), 4, [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(ForEachParallel, ThrowsWhatACallThrew) {
  EXPECT_THROW(for_each_parallel(10, 3,
                                 [](std::size_t i) {
                                   if (i == 5) throw std::runtime_error("five");
                                 }),
               std::runtime_error);
}

}  // namespace
}  // namespace memreplay
