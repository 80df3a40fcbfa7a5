#include "core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace memreplay {
namespace {

TEST(WorkAhead, ResultsComeInOrder) {
  for (const unsigned threads : {0U, 1U, 3U}) {
    WorkAhead<std::size_t> squares(50, threads, [](std::size_t i) { return i * i; });
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(squares.take(), i * i);
  }
}

TEST(WorkAhead, NoMoreThanTheThreadsAreAhead) {
  std::atomic<std::size_t> begun = 0;
  WorkAhead<int> work(50, 3, [&](std::size_t) {
    ++begun;
    return 0;
  });
  for (std::size_t taken = 1; taken <= 20; ++taken) {
    work.take();
    EXPECT_LE(begun, taken + 2);
  }
}

TEST(WorkAhead, WithOneThreadNothingIsAhead) {
  std::size_t begun = 0;
  WorkAhead<int> work(50, 1, [&](std::size_t) {
    ++begun;
    return 0;
  });
  for (std::size_t taken = 1; taken <= 5; ++taken) {
    work.take();
    EXPECT_EQ(begun, taken);
  }
}

TEST(WorkAhead, OneAloneNeedsNoThread) {
  std::thread::id worker;
  WorkAhead<int> work(1, 3, [&](std::size_t) {
    worker = std::this_thread::get_id();
    return 7;
  });
  EXPECT_EQ(work.take(), 7);
  EXPECT_EQ(worker, std::this_thread::get_id());
}

TEST(WorkAhead, AFailureIsThrownInItsTurn) {
  WorkAhead<std::size_t> work(3, 3, [](std::size_t i) {
    if (i == 1) throw std::runtime_error("one");
    return i;
  });
  EXPECT_EQ(work.take(), 0u);
  EXPECT_THROW(work.take(), std::runtime_error);
  EXPECT_EQ(work.take(), 2u);
}

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
