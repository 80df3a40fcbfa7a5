#include "trace/torch/start_state.hpp"

#include <gtest/gtest.h>

#include <array>

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 40;

TorchEntry entry(TorchAction action, Bytes at, Bytes size) {
  TorchEntry made;
  made.action = action;
  made.address = kBase + at;
  made.size = size;
  return made;
}

class Backwards : public testing::Test {
 protected:
  SegmentHistory history_{{}, 20 * kMiB};

  const SegmentHistory::Segment* undone(TorchAction action, Bytes at, Bytes size) {
    EXPECT_TRUE(history_.undo(entry(action, at, size)));
    return history_.find(kBase + at);
  }
};

TEST_F(Backwards, AFreedSegmentIsThereAgainAndOf2MiBSmall) {
  const auto* small = undone(TorchAction::segment_free, 0, 2 * kMiB);
  ASSERT_NE(small, nullptr);
  EXPECT_TRUE(small->small_pool);
  EXPECT_FALSE(small->expandable);
  const auto* large = undone(TorchAction::segment_free, 2 * kMiB, 20 * kMiB);
  EXPECT_FALSE(large->small_pool);
  EXPECT_FALSE(large->expandable);
  EXPECT_FALSE(history_.undo(entry(TorchAction::segment_free, 0, 2 * kMiB))) << "twice";
}

TEST_F(Backwards, AnAllocatedSegmentIsGoneIfItWasThatLarge) {
  undone(TorchAction::segment_free, 0, 2 * kMiB);
  EXPECT_FALSE(history_.undo(entry(TorchAction::segment_alloc, 0, kMiB)));
  EXPECT_FALSE(history_.undo(entry(TorchAction::segment_alloc, 512, 2 * kMiB)));
  EXPECT_EQ(undone(TorchAction::segment_alloc, 0, 2 * kMiB), nullptr);
}

TEST_F(Backwards, ASegmentHoldsItsFirstByteAndNotItsEnd) {
  undone(TorchAction::segment_free, kMiB, 2 * kMiB);
  EXPECT_EQ(history_.find(kBase + kMiB - 1), nullptr);
  EXPECT_NE(history_.find(kBase + kMiB), nullptr);
  EXPECT_NE(history_.find(kBase + 3 * kMiB - 1), nullptr);
  EXPECT_EQ(history_.find(kBase + 3 * kMiB), nullptr);
}

TEST_F(Backwards, WhatWasUnmappedJoinsTheRunsThatItTouches) {
  undone(TorchAction::segment_unmap, 0, 20 * kMiB);
  undone(TorchAction::segment_unmap, 40 * kMiB, 20 * kMiB);
  EXPECT_EQ(history_.segments().size(), 2u);
  undone(TorchAction::segment_unmap, 20 * kMiB, 20 * kMiB);
  ASSERT_EQ(history_.segments().size(), 1u);
  const SegmentHistory::Segment& run = history_.segments().begin()->second;
  EXPECT_EQ(run.size, 60 * kMiB);
  EXPECT_TRUE(run.expandable);
  EXPECT_FALSE(run.small_pool);
}

TEST_F(Backwards, WhatWasMappedLeavesTheRestOfItsRun) {
  undone(TorchAction::segment_unmap, 0, 6 * kMiB);
  EXPECT_TRUE(history_.find(kBase)->small_pool) << "not in granules of large ones";
  EXPECT_EQ(undone(TorchAction::segment_map, 2 * kMiB, 2 * kMiB), nullptr);
  EXPECT_EQ(history_.find(kBase)->size, 2 * kMiB);
  EXPECT_EQ(history_.find(kBase + 4 * kMiB)->size, 2 * kMiB);
  EXPECT_FALSE(history_.undo(entry(TorchAction::segment_map, 4 * kMiB, 3 * kMiB)));
}

/// The blocks of one plain segment by size in KiB, free ones in brackets.
class Start {
 public:
  Start& segment(Bytes size, bool small = false) {
    segments_[kBase] = {.size = size, .small_pool = small};
    return *this;
  }
  Start& block(Bytes at, Bytes requested, Bytes size = 0) {
    blocks_.push_back({.address = kBase + at, .requested = requested, .size = size});
    return *this;
  }
  Start& then_allocated(Bytes at) {
    entries_.push_back(entry(TorchAction::alloc, at, 512));
    return *this;
  }
  std::string layout(const BlockRules& rules = {}) {
    unplaced_ = 0;
    std::string text;
    const MemoryState state = lay_out_start(segments_, blocks_, entries_, rules, unplaced_);
    for (const BlockInfo& block : state.segments.at(0).blocks) {
      const std::string size = std::to_string(block.size / kKiB);
      if (!text.empty()) text += ' ';
      text += block.state == BlockState::free ? '[' + size + ']' : size;
    }
    return text;
  }
  std::uint64_t unplaced() const { return unplaced_; }

 private:
  SegmentTable segments_;
  std::vector<StartBlock> blocks_;
  std::vector<TorchEntry> entries_;
  std::uint64_t unplaced_ = 0;
};

TEST(StartState, BehindABlockOfALargeSegmentUpToAMebibyteIsItsOwn) {
  const auto layout = [](Bytes next) {
    return Start().segment(20 * kMiB).block(0, 3 * kMiB).block(next, 16 * kMiB).layout();
  };
  EXPECT_EQ(layout(3 * kMiB), "3072 17408");
  EXPECT_EQ(layout(4 * kMiB), "4096 16384");
  EXPECT_EQ(Start().segment(20 * kMiB).block(0, 3 * kMiB).layout(), "3072 [17408]");
  EXPECT_EQ(Start().segment(20 * kMiB).block(0, 19 * kMiB).layout(), "20480");
  EXPECT_EQ(Start().segment(20 * kMiB).block(0, 19 * kMiB - 1024).layout(), "19455 [1025]");
}

TEST(StartState, InASmallSegmentAndWithAStatedSizeItIsFree) {
  EXPECT_EQ(Start().segment(2 * kMiB, true).block(0, 2 * kMiB - 1024).layout(), "2047 [1]");
  EXPECT_EQ(Start().segment(20 * kMiB).block(0, 3 * kMiB, 19 * kMiB + 1024).layout(),
            "19457 [1023]");
}

TEST(StartState, ABlockThatIsNotSplitIsAsLongAsThereIsRoom) {
  Start start;
  start.segment(100 * kMiB).block(0, 50 * kMiB);
  EXPECT_EQ(start.layout({.max_split_size = 50 * kMiB}), "102400");
  EXPECT_EQ(start.layout({.max_split_size = 50 * kMiB + 512}), "51200 [51200]");
}

TEST(StartState, ABlockEndsWhereTheNextAllocationBegins) {
  const auto layout = [](Bytes next) {
    return Start().segment(20 * kMiB).block(0, 3 * kMiB).then_allocated(next).layout();
  };
  EXPECT_EQ(layout(3 * kMiB + 512 * kKiB), "3584 [16896]");
  EXPECT_EQ(layout(4 * kMiB), "4096 [16384]");
  EXPECT_EQ(layout(4 * kMiB + kKiB), "3072 [17408]");
  EXPECT_EQ(layout(2 * kMiB), "3072 [17408]");
}

TEST(StartState, BlocksOutsideOfSegmentsOrOverOthersAreCounted) {
  Start start;
  start.segment(20 * kMiB).block(2 * kMiB, 2 * kMiB).block(3 * kMiB, 2 * kMiB);
  start.block(20 * kMiB, 512).block(30 * kMiB, 512);
  EXPECT_EQ(start.layout(), "[3072] 2048 [15360]");
  EXPECT_EQ(start.unplaced(), 3u);
}

}  // namespace
}  // namespace memreplay
