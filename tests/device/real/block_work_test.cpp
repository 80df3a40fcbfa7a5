#include "device/real/block_work.hpp"

#include <gtest/gtest.h>

#include "device/host/pointer.hpp"
#include "support/real_memories.hpp"

namespace memreplay {
namespace {

using Regions = RealDeviceOptions::Regions;

/// A device with one mapped range of 64 granules, in which the test places blocks as it likes.
class BlockWorks : public RealMemoryTest {
 protected:
  void SetUp() override {
    RealMemoryTest::SetUp();
    memory->execution().prepare();
    device.emplace(*memory, RealDeviceOptions{});
    range = *device->reserve(kGranules * granule);
    ASSERT_TRUE(device->map(range, kGranules * granule, granule));
    work.emplace(*device, *memory, Touch::all, "mine");
  }
  void TearDown() override {
    work.reset();
    device.reset();
    RealMemoryTest::TearDown();
  }

  Placement block(Handle handle, Bytes offset, Bytes size) const {
    return {range + offset, size, handle};
  }
  void place(std::uint64_t event, const Placement& block, StreamIndex stream = 0) {
    work->placed(event, {.size = block.size, .stream = stream}, block);
  }
  void overwrite(Bytes offset) {
    memory->execution().synchronise();
    *pointer_to<std::uint8_t>(device->ranges(range + offset, 1).front().address) ^= 1;
  }
  std::string found() {
    return message_of<AuditError>([&] { work->finish(); });
  }

  static constexpr Bytes kGranules = 16;
  std::optional<RealDevice> device;
  std::optional<BlockWork> work;
  Address range = 0;
};
MEMREPLAY_ON_REAL_MEMORY(BlockWorks);

TEST_P(BlockWorks, WhatWasNotDisturbedIsFoundAsItWas) {
  place(0, block(0, 0, 1000));
  place(1, block(1, 1000, 3 * granule), 5);
  work->freed(2, block(0, 0, 1000));
  EXPECT_EQ(found(), "");
  EXPECT_EQ(work->touched().filled, 2u);
  EXPECT_EQ(work->touched().checked, 2u);
  EXPECT_EQ(work->touched().filled_bytes, 1000 + 3 * granule);
}

TEST_P(BlockWorks, AnOverwrittenBlockIsNamedByStrategyAndEvents) {
  place(3, block(0, 0, 1000), 1);
  place(4, block(1, 1000, 500), 2);
  overwrite(1400);
  work->freed(5, block(0, 0, 1000));
  work->freed(7, block(1, 1000, 500));
  const std::string message = found();
  EXPECT_EQ(message.rfind("strategy 'mine', event 7: the block of event 4 was overwritten while it "
                          "lived, at 0x",
                          0),
            0u)
      << message;
  EXPECT_NE(message.find(" of " + memory->facts().name), std::string::npos) << message;
}

TEST_P(BlockWorks, TwoLiveBlocksThatOverlapAreFound) {
  place(0, block(0, 0, 1000), 0);
  memory->execution().synchronise();
  place(1, block(1, 992, 1000), 1);
  memory->execution().synchronise();
  work->freed(2, block(0, 0, 1000));
  EXPECT_NE(found().find("event 2: the block of event 0"), std::string::npos);
}

TEST_P(BlockWorks, ABlockThatStillLivesInTheEndIsComparedToo) {
  place(0, block(0, 0, 1000));
  overwrite(999);
  EXPECT_NE(found(), "");
}

TEST_P(BlockWorks, MemoryThatGoesFromStreamToStreamIsWrittenInTheirOrder) {
  for (std::uint64_t round = 0; round < 40; ++round) {
    const Placement shared = block(0, 0, 4096);
    place(2 * round, shared, static_cast<StreamIndex>(round * 7 % 5));
    work->freed(2 * round + 1, shared);
  }
  EXPECT_EQ(found(), "");
  EXPECT_EQ(work->touched().checked, 40u);
}

TEST_P(BlockWorks, WhatIsPendingIsStillNobodyElses) {
  const Placement shared = block(0, 0, 1000);
  place(0, shared);
  work->free_requested(1, shared);
  place(2, block(1, 0, 1000));
  work->freed(3, shared);
  EXPECT_NE(found().find("event 3: the block of event 0"), std::string::npos);
}

TEST_P(BlockWorks, AfterWaitingForAllStreamsWhatWasPendingMayBeUsedAgain) {
  const Placement first = block(0, 0, 1000);
  place(0, first, 3);
  work->free_requested(1, first);
  work->synchronised();
  place(2, block(1, 0, 1000), 1);
  work->freed(3, first);
  EXPECT_EQ(found(), "");
  EXPECT_EQ(work->touched().checked, 2u);
}

TEST_P(BlockWorks, WhatWasOverwrittenWhileItWasPendingIsFoundByWaitingToo) {
  const Placement first = block(0, 0, 1000);
  place(0, first, 3);
  work->free_requested(1, first);
  overwrite(5);
  work->synchronised();
  EXPECT_NE(found().find("the block of event 0"), std::string::npos);
}

TEST_P(BlockWorks, PendingMemoryThatWasReturnedInAWaitAndMappedAgainIsNoMistake) {
  const Placement first = block(0, 0, granule);
  place(0, first, 3);
  work->free_requested(1, first);
  // One call of a strategy: it waits for the streams, returns memory, and obtains it again.
  device->unmap(range, granule);
  ASSERT_TRUE(device->map(range, granule, granule));
  work->synchronised();
  place(2, block(1, 0, granule), 1);
  work->freed(3, first);
  EXPECT_EQ(found(), "");
  EXPECT_EQ(work->touched().checked, 2u);
}

TEST_P(BlockWorks, WhatIsOverwrittenBeforeItsMemoryIsReturnedIsFound) {
  const Placement first = block(0, 0, granule);
  place(0, first, 3);
  overwrite(granule - 1);
  device->unmap(range, granule);
  work->moved_out(first);
  EXPECT_NE(found().find("the block of event 0"), std::string::npos);
}

TEST_P(BlockWorks, ABlockThatMovedOutIsComparedOnce) {
  const Placement first = block(0, 0, 1000);
  place(0, first);
  work->moved_out(first);
  place(1, block(1, 0, 1000));
  EXPECT_EQ(found(), "");
  EXPECT_EQ(work->touched().checked, 2u);
}

TEST_P(BlockWorks, WithoutTouchingNothingIsCompared) {
  BlockWork none(*device, *memory, Touch::none, "mine");
  none.placed(0, {.size = 1000}, block(0, 0, 1000));
  overwrite(0);
  none.freed(1, block(0, 0, 1000));
  none.finish();
  EXPECT_EQ(none.touched().filled + none.touched().checked, 0u);
}

TEST_P(BlockWorks, WhatAnEarlierReplayFoundIsNotThisOnes) {
  place(0, block(0, 0, 1000));
  overwrite(7);
  work->freed(1, block(0, 0, 1000));
  work.emplace(*device, *memory, Touch::all, "mine");
  place(0, block(0, 0, 1000));
  EXPECT_EQ(found(), "");
}

TEST_P(BlockWorks, StreamsWaitForOthersAsOftenAsTheStrategyDid) {
  place(0, block(0, 0, 1000), 0);
  place(1, block(1, 1000, 1000), 1);
  work->stream_waited(1, 3);
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace memreplay
