#include <gtest/gtest.h>

#include "replay/trial.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

constexpr Address kHigh = Address{0x7a} << 40;

/// A recording of nothing but what its device was asked for, and for which requests.
class FollowingDeviceTest : public testing::Test {
 public:
  FollowingDeviceTest& recorded(Op op, Address address = 0, Bytes size = 0) {
    trace_.ops.push_back(op);
    trace_.addresses.push_back(address);
    trace_.sizes.push_back(size);
    return *this;
  }
  FollowingDevice& follow(SimulatedDeviceOptions asked = {}) {
    if (asked.like_recorded == LikeRecorded::nothing) {
      asked.like_recorded = LikeRecorded::addresses_and_refusals;
    }
    simulated_.emplace(asked);
    return device_.emplace(*simulated_, trace_, asked, kTiB);
  }
  void at_event(std::uint64_t event) { *device_->event() = event; }
  bool followed_to_the_end() { return device_->followed(trace_.size())->to_the_end; }

  Trace trace_;
  std::optional<SimulatedDevice> simulated_;
  std::optional<FollowingDevice> device_;
};

TEST_F(FollowingDeviceTest, GivesWhatTheRecordedOneGaveWhereItGaveIt) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate);
  recorded(Op::segment_free, kHigh, 20 * kMiB).recorded(Op::segment_alloc, kHigh - kGiB, 2 * kMiB);
  recorded(Op::allocate);
  FollowingDevice& device = follow();
  at_event(1);
  EXPECT_EQ(device.obtain(20 * kMiB), kHigh);
  at_event(4);
  device.give_back(kHigh);
  EXPECT_EQ(device.obtain(2 * kMiB), kHigh - kGiB);
  EXPECT_TRUE(followed_to_the_end());
  EXPECT_EQ(device.usage().held, 2 * kMiB);
  EXPECT_EQ(device.usage().peak_held, 20 * kMiB);
  EXPECT_EQ(device.usage().allocs, 2u);
}

TEST_F(FollowingDeviceTest, RefusesWhatTheRecordedOneRefused) {
  recorded(Op::oom, 690 * kMiB)
      .recorded(Op::segment_alloc, kHigh, 20 * kMiB)
      .recorded(Op::allocate);
  FollowingDevice& device = follow();
  EXPECT_EQ(device.obtain(20 * kMiB), std::nullopt);
  EXPECT_EQ(device.free_bytes(), 690 * kMiB) << "as the recording states it";
  at_event(2);
  EXPECT_EQ(device.obtain(20 * kMiB), kHigh);
  EXPECT_TRUE(followed_to_the_end());
  EXPECT_EQ(device.usage().refusals, 1u);
}

TEST_F(FollowingDeviceTest, MapsIntoReservationsWhereTheyWere) {
  recorded(Op::segment_map, kHigh, 20 * kMiB).recorded(Op::allocate);
  recorded(Op::segment_unmap, kHigh, 20 * kMiB);
  FollowingDevice& device = follow();
  at_event(1);
  EXPECT_EQ(device.reserve(kTiB), kHigh);
  EXPECT_TRUE(device.map(kHigh, 20 * kMiB, 20 * kMiB));
  EXPECT_FALSE(device.map(kHigh + 20 * kMiB, 20 * kMiB, 20 * kMiB));
  at_event(2);
  device.unmap(kHigh, 20 * kMiB);
  device.release(kHigh);
  EXPECT_TRUE(followed_to_the_end());
  EXPECT_EQ(device.usage().held, 0u);
}

TEST_F(FollowingDeviceTest, ReservationsThatWouldOverlapOnALargerDeviceLieApart) {
  recorded(Op::segment_map, kHigh, 2 * kMiB).recorded(Op::allocate);
  recorded(Op::segment_map, kHigh + kGiB, 20 * kMiB).recorded(Op::allocate);
  FollowingDevice& device = follow({.like_recorded = LikeRecorded::addresses});
  at_event(1);
  EXPECT_EQ(device.reserve(2 * kGiB), kHigh);
  EXPECT_TRUE(device.map(kHigh, 2 * kMiB, 2 * kMiB));
  at_event(3);
  EXPECT_GE(device.reserve(2 * kGiB), kHigh + 2 * kGiB);
  EXPECT_FALSE(followed_to_the_end());
}

// Where a driver's reservations begin, and where those of a simulated one do.
TEST_F(FollowingDeviceTest, LaterReservationsLieApartFromFollowedOnesWhateverThePolicy) {
  for (const Address at : {Address{1} << 47, Address{1} << 44, kHigh}) {
    for (const auto policy :
         {AddressPolicy::cuda_linux, AddressPolicy::first_fit, AddressPolicy::upward}) {
      trace_ = {};
      recorded(Op::segment_map, at, 2 * kMiB).recorded(Op::allocate);
      recorded(Op::segment_map, at + kGiB, 20 * kMiB).recorded(Op::allocate);
      FollowingDevice& device =
          follow({.policy = policy, .like_recorded = LikeRecorded::addresses});
      at_event(1);
      ASSERT_EQ(device.reserve(2 * kGiB), at);
      EXPECT_TRUE(device.map(at, 2 * kMiB, 2 * kMiB));
      at_event(3);
      const auto copy = device.clone();
      for (DeviceModel* one : {static_cast<DeviceModel*>(&device), copy.get()}) {
        const Address next = *one->virtual_memory()->reserve(2 * kGiB);
        EXPECT_TRUE(next >= at + 2 * kGiB || next + 2 * kGiB <= at) << next;
        EXPECT_TRUE(one->virtual_memory()->map(next, 20 * kMiB, 20 * kMiB));
        const auto region = one->obtain(32 * kMiB);
        ASSERT_TRUE(region);
        EXPECT_TRUE(*region >= at + 2 * kGiB || *region + 32 * kMiB <= at) << *region;
      }
    }
  }
}

TEST_F(FollowingDeviceTest, GoesOnAboveWhereItIsAskedForSomethingElse) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate);
  recorded(Op::segment_alloc, kHigh - kGiB, 20 * kMiB).recorded(Op::allocate);
  FollowingDevice& device = follow({.like_recorded = LikeRecorded::addresses});
  at_event(1);
  EXPECT_EQ(device.obtain(20 * kMiB), kHigh);
  at_event(3);
  EXPECT_GE(device.obtain(2 * kMiB), kHigh + 20 * kMiB);
  EXPECT_GE(device.obtain(20 * kMiB), kHigh + 22 * kMiB);
  const auto followed = device.followed(trace_.size());
  ASSERT_TRUE(followed);
  EXPECT_FALSE(followed->to_the_end);
  EXPECT_EQ(followed->left_at, 3u);
}

TEST_F(FollowingDeviceTest, WhereItIsAskedForTheCapacityDecidesOverRefusals) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate).recorded(Op::oom);
  FollowingDevice& device =
      follow({.capacity = 30 * kMiB, .like_recorded = LikeRecorded::addresses});
  EXPECT_EQ(device.total_bytes(), 30 * kMiB);
  at_event(1);
  EXPECT_EQ(device.obtain(20 * kMiB), kHigh);
  at_event(2);
  EXPECT_EQ(device.obtain(20 * kMiB), std::nullopt) << "both refuse";
  EXPECT_TRUE(followed_to_the_end());
  EXPECT_NE(device.obtain(2 * kMiB), std::nullopt) << "the recorded one refused";
  EXPECT_FALSE(followed_to_the_end());
}

TEST_F(FollowingDeviceTest, ASmallerOneIsNotFollowed) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate);
  FollowingDevice& device =
      follow({.capacity = 10 * kMiB, .like_recorded = LikeRecorded::addresses});
  at_event(1);
  EXPECT_EQ(device.obtain(20 * kMiB), std::nullopt);
  EXPECT_FALSE(followed_to_the_end());
}

TEST_F(FollowingDeviceTest, ACallThatNobodyMakesIsNoticed) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate).recorded(Op::allocate);
  const FollowingDevice& device = follow();
  EXPECT_FALSE(followed_to_the_end());
  EXPECT_EQ(device.followed(trace_.size())->left_at, 0u);
  EXPECT_TRUE(device.followed(0)->to_the_end) << "as far as it was played";
}

TEST_F(FollowingDeviceTest, AnotherProgramHasADeviceOfItsOwn) {
  recorded(Op::segment_alloc, kHigh, 20 * kMiB).recorded(Op::allocate);
  FollowingDevice& device = follow({.capacity = 10 * kMiB});
  device.follow_nothing();
  EXPECT_EQ(device.obtain(20 * kMiB), std::nullopt);
  EXPECT_LT(device.obtain(2 * kMiB), kHigh);
  EXPECT_EQ(device.followed(trace_.size()).has_value(), false);
}

/// A host's recording of another allocator than PyTorch's, with its regions or without them.
Recording of_host(bool with_regions) {
  Recording recording{.format = "xspace", .strategy = "bfc", .texts = {""}, .stacks = {{}}};
  TraceBuilder builder(-1);
  const auto event = [&](Op op, Address address, Bytes size) {
    if (is_driver_event(op) && !with_regions) return;
    builder.add(op, builder.lane(0, {}), op == Op::allocate ? builder.take_slot() : kNoSlot, size);
    builder.fill<&Trace::addresses>(address);
  };
  event(Op::segment_alloc, kHigh, 2 * kMiB);
  event(Op::allocate, kHigh, 2 * kMiB);
  event(Op::segment_alloc, kHigh + kTiB, 4 * kMiB);
  event(Op::allocate, kHigh + kTiB, kMiB);
  event(Op::segment_alloc, kHigh + kGiB, 8 * kMiB);
  event(Op::allocate, kHigh + kGiB, 8 * kMiB);
  recording.traces.push_back(builder.finish());
  return recording;
}

std::vector<Address> regions_of(const Recording& recording, const char* strategy) {
  const Subject subject(recording, recording.traces.at(0));
  Trial trial(Contender(subject, parse_strategy(strategy)),
              {.device = {.like_recorded = LikeRecorded::addresses_and_refusals}});
  EXPECT_EQ(trial.run().metrics.ooms, 0u);
  std::vector<Address> addresses;
  for (const SegmentInfo& segment : trial.strategy().memory_state().segments) {
    addresses.push_back(segment.address);
  }
  return addresses;
}

TEST(Trial, OfAnotherAllocatorTheRecordedRegionsAreFollowedAsLongAsTheyAreAskedFor) {
  const Recording recording = of_host(true);
  EXPECT_EQ(regions_of(recording, "bfc"),
            (std::vector<Address>{kHigh, kHigh + kGiB, kHigh + kTiB}));
  EXPECT_NE(regions_of(recording, "bfc:first_region=4MiB").front(), kHigh);
}

TEST(Trial, OnAHostTheRegionsOfBfcGoDownward) {
  const Recording recording = of_host(false);
  const Subject subject(recording, recording.traces.at(0));
  const auto policy = [&](const char* strategy) {
    return Contender(subject, parse_strategy(strategy))
        .order_of_addresses(AddressPolicy::automatic);
  };
  EXPECT_EQ(policy("bfc"), AddressPolicy::downward);
  EXPECT_EQ(policy("direct"), AddressPolicy::upward);
  Recording of_gpu = of_host(false);
  of_gpu.traces[0].gpu = 0;
  const Subject other(of_gpu, of_gpu.traces[0]);
  EXPECT_EQ(Contender(other, parse_strategy("bfc")).order_of_addresses(AddressPolicy::automatic),
            AddressPolicy::upward);
  EXPECT_EQ(Contender(other, parse_strategy("bfc:name=mklcpu"))
                .order_of_addresses(AddressPolicy::automatic),
            AddressPolicy::downward);
}

}  // namespace
}  // namespace memreplay
