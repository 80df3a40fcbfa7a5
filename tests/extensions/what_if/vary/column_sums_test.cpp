#include <gtest/gtest.h>

#include "extensions/what_if/vary/restage.hpp"

namespace memreplay {
namespace {

// Recorded on a GPU of 132 multiprocessors.
TEST(ColumnSums, StagingIsWhatWasRecorded) {
  EXPECT_EQ(sum_staging(1024, 512), (SumStaging{4194304, 16}));
  EXPECT_EQ(sum_staging(1576, 384), (SumStaging{4915200, 12})) << "whole groups of 64 rows";
  EXPECT_EQ(sum_staging(2048, 6000), (SumStaging{98304000, 188}));
  EXPECT_EQ(sum_staging(4096, 6000), (SumStaging{138240000, 188})) << "the GPU is full";
}

TEST(ColumnSums, FewRowsNeedNoStaging) { EXPECT_EQ(sum_staging(1023, 512), std::nullopt); }

/// A linear layer's backward over `rows`, with what the sum sets aside.
Calls backward(Bytes rows, bool staged) {
  Calls calls;
  const auto ask = [&](Bytes size) {
    calls.calls.push_back({false, static_cast<std::uint32_t>(calls.blocks.size())});
    calls.blocks.push_back({size});
  };
  ask(4 * rows * 256);
  ask(Bytes{32} << 20);
  calls.calls.push_back({true, 1});
  ask(4 * 512 * 256);
  ask(4 * 512);
  if (!staged) return calls;
  ask(sum_staging(rows, 512)->partial_sums);
  ask(sum_staging(rows, 512)->semaphores);
  calls.calls.push_back({true, 5});
  calls.calls.push_back({true, 4});
  return calls;
}

TEST(ColumnSums, TheGradientOfABiasIsToldByTheSizesBeforeIt) {
  const Calls calls = backward(512, false);
  const auto found = bias_gradients(calls, {true, false, false, false}, {false, true, true, true});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].bias, 3U);
  EXPECT_FALSE(found[0].staged);
  EXPECT_EQ(rows_of(found[0], std::vector<Bytes>{4 * 700 * 256, 0, 4 * 512 * 256, 4 * 512}), 700U);
}

TEST(ColumnSums, WhatDoesNotGrowIsNoGradientOfALayersInput) {
  const Calls calls = backward(512, false);
  EXPECT_TRUE(
      bias_gradients(calls, {false, false, false, false}, {true, true, true, true}).empty());
}

TEST(ColumnSums, StagingTellsTheRowsOfItsSum) {
  const Calls calls = backward(1500, true);
  const auto sum = staged_sum(calls, 4);
  ASSERT_TRUE(sum);
  EXPECT_EQ(sum->rows, 1536U);
  EXPECT_EQ(sum->result, 3U);
  EXPECT_FALSE(staged_sum(calls, 3));
  EXPECT_FALSE(staged_sum(backward(512, false), 4));
}

}  // namespace
}  // namespace memreplay
