#include <gtest/gtest.h>

#include "trace/torch/unstated_settings.hpp"

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

RecordedSettings padding_of(TorchSnapshot snapshot) {
  find_request_padding(snapshot);
  return snapshot.settings;
}

Bytes request_padding(TorchSnapshot snapshot) {
  return padding_of(std::move(snapshot)).request_padding;
}

TEST(RequestPadding, PytorchAddsNothing) {
  EXPECT_EQ(request_padding(with_blocks({{1, 512}, {512, 512}, {513, 1024}})), 0u);
  EXPECT_EQ(request_padding(with_blocks({})), 0u);
}

TEST(RequestPadding, IsWhatEveryBlockAllows) {
  // 480 and 481 leave 32 alone.
  EXPECT_EQ(request_padding(with_blocks({{480, 512}, {481, 1024}})), 32u);
  EXPECT_EQ(request_padding(with_blocks({{500, 1024}, {485, 512}})), 16u);
  EXPECT_EQ(request_padding(with_blocks({{412, 512}, {413, 1024}})), 100u);
}

TEST(RequestPadding, WhereTheBlocksAllowARangeItIs32AndTheRangeIsTold) {
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  const auto settings = padding_of(with_blocks({{256, 512}, {512, 1024}}));
  EXPECT_EQ(settings.request_padding, 32u);
  EXPECT_EQ(settings.request_padding_range, Range(1, 256));
  EXPECT_EQ(padding_of(with_blocks({{480, 512}, {481, 1024}})).request_padding_range,
            Range(32, 32));
  EXPECT_EQ(padding_of(with_blocks({{512, 512}})).request_padding_range, std::nullopt);
}

TEST(RequestPadding, RestsOfLargeSegmentsSayNothing) {
  EXPECT_EQ(request_padding(with_blocks({{11 << 20, 12 << 20}}, false)), 0u);
}

TEST(RequestPadding, BlocksThatNothingExplainsAreLeftAlone) {
  EXPECT_EQ(request_padding(with_blocks({{100, 512}, {100, 2048}})), 0u);
}

std::vector<Bytes> possible(std::vector<std::pair<Bytes, Bytes>> requested_and_size) {
  MemoryState end;
  SegmentInfo& segment = end.segments.emplace_back();
  segment.small_pool = true;
  for (const auto& [requested, size] : requested_and_size) {
    segment.blocks.push_back(
        {.size = size, .requested = requested, .state = BlockState::allocated});
  }
  return possible_paddings(end, {});
}

TEST(RequestPadding, PossibleOnesArePowersOfTwoTheUsualOneFirst) {
  EXPECT_EQ(possible({{256, 512}}), (std::vector<Bytes>{32, 1, 2, 4, 8, 16, 64, 128, 256}));
  EXPECT_EQ(possible({{511, 512}}), std::vector<Bytes>{1});
  EXPECT_EQ(possible({{512, 4608}}), std::vector<Bytes>{4096});
  EXPECT_EQ(possible({{512, 8704}}), std::vector<Bytes>{});
}

}  // namespace
}  // namespace memreplay
