#include "trace/torch/request_padding.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TorchSnapshot with_blocks(std::vector<std::pair<Bytes, Bytes>> requested_and_size,
                          bool small = true) {
  TorchSnapshot snapshot;
  TorchSegment& segment = snapshot.segments.emplace_back();
  segment.small_pool = small;
  for (const auto& [requested, size] : requested_and_size) {
    segment.blocks.push_back(
        {.size = size, .requested = requested, .state = BlockState::allocated});
  }
  return snapshot;
}

TEST(RequestPadding, PytorchAddsNothing) {
  EXPECT_EQ(request_padding(with_blocks({{1, 512}, {512, 512}, {513, 1024}})), 0u);
  EXPECT_EQ(request_padding(with_blocks({})), 0u);
}

TEST(RequestPadding, IsWhatEveryBlockAllows) {
  // 480 and 481 leave 32 alone.
  EXPECT_EQ(request_padding(with_blocks({{480, 512}, {481, 1024}})), 32u);
  EXPECT_EQ(request_padding(with_blocks({{500, 1024}, {450, 512}})), 16u);
  EXPECT_EQ(request_padding(with_blocks({{412, 512}, {413, 1024}})), 100u);
}

TEST(RequestPadding, RestsOfLargeSegmentsSayNothing) {
  EXPECT_EQ(request_padding(with_blocks({{11 << 20, 12 << 20}}, false)), 0u);
}

TEST(RequestPadding, BlocksThatNothingExplainsAreLeftAlone) {
  EXPECT_EQ(request_padding(with_blocks({{100, 512}, {100, 2048}})), 0u);
}

}  // namespace
}  // namespace memreplay
