#include <gtest/gtest.h>

#include "../recordings.hpp"
#include "analysis/explain/addresses.hpp"

namespace memreplay {
namespace {

// A segment is written as its blocks: 'A' is slot 0 and so on, a dot is free; one MiB each.
SegmentInfo segment(Address address, const std::string& picture) {
  SegmentInfo segment{.address = address};
  for (const char c : picture) {
    const bool free = c == '.';
    const Slot slot = free ? kNoSlot : static_cast<Slot>(c - 'A');
    auto& blocks = segment.blocks;
    const bool same = !blocks.empty() && blocks.back().slot == slot;
    if (!same) {
      blocks.push_back({.address = address + segment.size,
                        .state = free ? BlockState::free : BlockState::allocated,
                        .slot = slot});
    }
    blocks.back().size += kMiB;
    segment.size += kMiB;
  }
  return segment;
}

class PinsTest : public testing::Test {
 protected:
  // Slots in the order of their age, each at a place of its own: "a.py:1 f", "a.py:2 f", …
  Pins pins_of_segments(std::vector<SegmentInfo> segments, Slot blocks) {
    for (Slot slot = 0; slot < blocks; ++slot) {
      const std::uint32_t stack = writer_.stack({"a.py:" + std::to_string(slot + 1) + " f"});
      writer_.alloc(slot, kMiB, stack);
    }
    recording_ = writer_.recording();
    Moment moment;
    moment.memory.segments = std::move(segments);
    moment.live = live_before(recording_.traces[0], blocks);
    return pins_of(moment, Places(recording_), 4 * kMiB);
  }

  RecordingWriter writer_;
  Recording recording_;
};

TEST_F(PinsTest, FreeMemoryOfASegmentCountsForItsOldestBlock) {
  const Pins pins = pins_of_segments({segment(0, "B..A."), segment(64 * kMiB, ".C")}, 3);
  ASSERT_EQ(pins.by_place.size(), 2u);
  EXPECT_EQ(pins.by_place[0].place, "a.py:1 f");
  EXPECT_EQ(pins.by_place[0].pinned, 3 * kMiB);
  EXPECT_EQ(pins.by_place[0].oldest, 0u);
  EXPECT_EQ(pins.by_place[1].place, "a.py:3 f");
  EXPECT_EQ(pins.by_place[1].pinned, kMiB);
  EXPECT_EQ(pins.pinned, 4 * kMiB);
  EXPECT_EQ(pins.returnable, 0u);
}

TEST_F(PinsTest, AWholeFreeSegmentIsPinnedByNobody) {
  const Pins pins = pins_of_segments({segment(0, "....")}, 1);
  EXPECT_TRUE(pins.by_place.empty());
  EXPECT_EQ(pins.returnable, 4 * kMiB);
}

TEST_F(PinsTest, AFullSegmentPinsNothing) {
  EXPECT_EQ(pins_of_segments({segment(0, "AB")}, 2).pinned, 0u);
}

TEST_F(PinsTest, OfAnExpandableSegmentWholeGranulesCanBeReturned) {
  SegmentInfo expandable = segment(0, "A......B........");
  expandable.expandable = true;
  const Pins pins = pins_of_segments({expandable}, 2);
  EXPECT_EQ(pins.returnable, 8 * kMiB);  // [8, 16); of [1, 7) no granule of 4 is whole
  EXPECT_EQ(pins.pinned, 6 * kMiB);
}

}  // namespace
}  // namespace memreplay
