#include "questions/explain/addresses.hpp"

#include <gtest/gtest.h>

#include "core/control.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explained.hpp"
#include "run/inputs.hpp"
#include "support/recordings.hpp"

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
    return pins_of(moment, Places(recording_), 0, 4 * kMiB);
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

TEST_F(PinsTest, WhatOtherPrivatePoolsHoldIsNotToBeHad) {
  SegmentInfo whole = segment(0, "....");
  SegmentInfo part = segment(64 * kMiB, "A.");
  whole.pool = part.pool = 1;
  const Pins pins = pins_of_segments({whole, part}, 1);
  EXPECT_EQ(pins.returnable, 0u);
  EXPECT_EQ(pins.pinned, 0u);
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

constexpr Bytes kDevice = 80 * kGiB;
constexpr Bytes kReservation = 90 * kGiB;

const torch::Settings kExpandable{.expandable_segments = true};

/// A mapped run of 20 MiB of a stream, of which one block takes `used`.
SegmentInfo run(Address at, StreamIndex stream, Bytes used = 20 * kMiB) {
  SegmentInfo segment{.address = at, .size = 20 * kMiB, .stream = stream, .expandable = true};
  segment.blocks = {{.address = at, .size = used, .state = BlockState::allocated}};
  if (used < segment.size) {
    segment.blocks.push_back({.address = at + used, .size = segment.size - used});
  }
  return segment;
}

std::optional<AddressUse> use_of(const Moment& moment) {
  const Recording recording = RecordingWriter().recording();
  return address_use(recording, recording.traces[0], moment, kExpandable, kDevice);
}

TEST(Addresses, EveryStreamReservesTheDeviceAndAnEighth) {
  Moment moment;
  moment.memory.segments = {run(0, 0), run(kReservation, 1)};
  const auto use = use_of(moment);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->reservations, 2u);
  EXPECT_EQ(use->streams, 2u);
  EXPECT_EQ(use->reserved, 2 * kReservation);
}

TEST(Addresses, RunsOfOneStreamShareAReservationAsFarAsItReaches) {
  Moment moment;
  moment.memory.segments = {run(0, 0), run(kReservation / 2, 0), run(2 * kReservation, 0)};
  EXPECT_EQ(use_of(moment)->reservations, 2u);
  EXPECT_EQ(use_of(moment)->streams, 1u);
}

TEST(Addresses, PlainSegmentsReserveNothing) {
  Moment moment;
  moment.memory.segments = {run(0, 0)};
  moment.memory.segments[0].expandable = false;
  EXPECT_FALSE(use_of(moment));
}

TEST(Addresses, AStreamWithoutASegmentNeedsAReservation) {
  Moment moment;
  moment.memory.segments = {run(0, 0)};
  const auto needed = [&](StreamPool lane, Bytes size,
                          const torch::Settings& settings = kExpandable) {
    return reservation_for(lane, size, moment, settings, kDevice);
  };
  EXPECT_EQ(needed({.stream = 1}, 30 * kMiB), kReservation);
  EXPECT_EQ(needed({.stream = 0}, 30 * kMiB), std::nullopt);
  EXPECT_EQ(needed({.stream = 0}, 512), kReservation);  // small blocks have segments of their own
  EXPECT_EQ(needed({.stream = 1}, 30 * kMiB, {}), std::nullopt);
  EXPECT_EQ(needed({.stream = 1}, 9 * kGiB,
                   {.expandable_segments = true, .expandable_segments_reserve = "8G"}),
            8 * kGiB + (20 * kMiB - 8 * kGiB % (20 * kMiB)));
}

TEST(Addresses, ASegmentAtItsEndNeedsAnotherReservation) {
  Moment moment;
  moment.memory.segments = {run(0, 0), run(kReservation - 40 * kMiB, 0)};
  const auto needed = [&](Bytes size) {
    return reservation_for({}, size, moment, kExpandable, kDevice);
  };
  EXPECT_EQ(needed(80 * kGiB), std::nullopt);  // between the two
  moment.memory.segments[1] = run(kReservation / 2, 0);
  EXPECT_EQ(needed(44 * kGiB), std::nullopt);
  EXPECT_TRUE(needed(46 * kGiB));
}

/// A recorded program with a block of 20 MiB on each of its streams, which was refused one on a
/// further stream.
class StreamsRecording {
 public:
  StreamsRecording(std::uint64_t streams, Bytes device_free) {
    recording_ = RecordingWriter().recording();
    recording_.format = "torch-snapshot";
    recording_.settings.conf = "expandable_segments:True";
    recording_.settings.expandable_segments = true;
    TraceBuilder builder(0);
    for (std::uint64_t i = 0; i < streams; ++i) {
      const Address at = (Address{1} << 44) + i * 10 * kTiB;
      add(builder, Op::segment_map, i, at, kNoSlot, 20 * kMiB);
      add(builder, Op::allocate, i, at, static_cast<Slot>(i), 20 * kMiB);
    }
    add(builder, Op::oom, streams, device_free, kNoSlot, 20 * kMiB);
    builder.trace().slot_count = static_cast<Slot>(streams);
    recording_.traces = {builder.finish()};
  }

  Explanation explained(const std::optional<Bytes>& address_space = {}) const {
    const Subject subject(recording_, recording_.traces[0]);
    ExplainOptions options;
    options.settings = kExpandable;
    options.address_space = address_space;
    return explain(subject, RecordedMoments(subject), options);
  }

 private:
  static void add(TraceBuilder& builder, Op op, std::uint64_t stream, Address at, Slot slot,
                  Bytes size) {
    builder.add(op, builder.lane(stream, PoolId{}), slot, size);
    builder.trace().addresses.push_back(at);
  }

  Recording recording_;
};

TEST(Addresses, WhereMemoryWasFreeAndAddressesWereNotThatIsTheVerdict) {
  constexpr std::uint64_t kStreams = 14;  // times 9 TiB, of 128
  const Explanation e = StreamsRecording(kStreams, 8 * kTiB).explained();
  EXPECT_EQ(e.cause, Cause::address_space);
  ASSERT_TRUE(e.addresses);
  EXPECT_EQ(e.addresses->streams, kStreams);
  EXPECT_EQ(e.addresses->reservations, kStreams);
  EXPECT_GE(e.addresses->reserved, kStreams * 9 * kTiB);
  EXPECT_TRUE(e.addresses->needed);
  EXPECT_TRUE(e.addresses->at_least);
  EXPECT_GT(e.spare(), 0);
}

TEST(Addresses, FewReservationsAreNotWhatARequestFailedFor) {
  const StreamsRecording few(10, 78 * kGiB);
  EXPECT_EQ(few.explained().cause, Cause::limit);
  EXPECT_EQ(few.explained(900 * kGiB).cause, Cause::address_space);
}

TEST(Addresses, WithoutRoomInMemoryTheyAreNotAsked) {
  const Explanation e = StreamsRecording(14, 10 * kMiB).explained(90 * kMiB);
  EXPECT_NE(e.cause, Cause::address_space);
}

// A block on each of three streams.
Explanation replayed(const char* strategy, const SimulatedDeviceOptions& device,
                     Bytes size = 20 * kMiB) {
  Recording recording = RecordingWriter().recording();
  TraceBuilder builder(0);
  for (Slot slot = 0; slot < 3; ++slot) {
    builder.add(Op::allocate, builder.lane(slot, PoolId{}), slot, size);
  }
  builder.trace().slot_count = 3;
  recording.traces = {builder.finish()};
  const Subject subject(recording, recording.traces[0]);
  const StrategySpec spec = parse_strategy(strategy);
  ExplainOptions options;
  options.total = options.reserved_for = device.capacity;
  options.address_space = device.address_space;
  options.settings = subject.model_of(spec)->settings;
  return explain(subject, ReplayedMoments(Contender(subject, spec), {.device = device}), options);
}

TEST(Addresses, ADeviceWithAnEndOfAddressesRefusesTheStreamBeyondIt) {
  const SimulatedDeviceOptions device{.capacity = kDevice, .address_space = 200 * kGiB};
  const Explanation e = replayed("torch:expandable_segments=True", device);
  EXPECT_EQ(e.cause, Cause::address_space);
  EXPECT_EQ(e.event, 2u);
  EXPECT_EQ(e.addresses->reservations, 2u);
  EXPECT_EQ(replayed("torch", device).cause, Cause::none);
}

TEST(Addresses, ARequestLongerThanReservationsIsRefusedForThem) {
  // Reservations of 8 MiB, which are a granule.
  const char* const strategy = "torch:expandable_segments=True,expandable_segments_reserve=0.0001";
  EXPECT_EQ(replayed(strategy, {.capacity = kDevice}).cause, Cause::none);
  const Explanation e = replayed(strategy, {.capacity = kDevice}, 40 * kMiB);
  EXPECT_EQ(e.cause, Cause::address_space);
  EXPECT_TRUE(e.addresses->too_short);
}

}  // namespace

}  // namespace memreplay
