#include "trace/gate.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "core/error.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

/// A trace of the default pool on stream 0, written as "a0 f0".
class Events {
 public:
  Events() { builder_.trace().slot_count = 4; }

  Events& add(Op op, Slot slot, Bytes size = 512, std::uint8_t align_log2 = 0) {
    builder_.add(op, builder_.lane(0, {}), slot, size, align_log2);
    return *this;
  }
  Events& driver(Op op, Address address, Bytes size) {
    Trace& trace = builder_.trace();
    trace.addresses.resize(trace.size());
    add(op, kNoSlot, size);
    trace.addresses.push_back(address);
    return *this;
  }
  Trace& trace() { return builder_.trace(); }
  std::string fault() {
    const auto found = fault_in(builder_.finish());
    return found ? found->place + ": " + found->what : "";
  }

 private:
  TraceBuilder builder_{0};
};

SegmentInfo segment(Address address, Bytes size, std::vector<BlockInfo> blocks) {
  return {.address = address, .size = size, .blocks = std::move(blocks)};
}

TEST(Gate, ABlockIsAllocatedAndFreedInTurn) {
  EXPECT_EQ(Events().add(Op::allocate, 0).add(Op::free, 0).add(Op::allocate, 0).fault(), "");
  EXPECT_EQ(Events()
                .add(Op::allocate, 0)
                .add(Op::free_requested, 0)
                .add(Op::free_completed, 0)
                .add(Op::allocate, 0)
                .fault(),
            "");
}

TEST(Gate, EventsThatContradictTheLiveBlocksAreFaults) {
  EXPECT_EQ(Events().add(Op::allocate, 0).add(Op::allocate, 0).fault(),
            "event 1: the allocation of a block that is live already");
  EXPECT_EQ(Events().add(Op::free, 0).fault(),
            "event 0: the free of a block that is not allocated");
  EXPECT_EQ(Events().add(Op::allocate, 0).add(Op::free, 0).add(Op::free, 0).fault(),
            "event 2: the free of a block that is not allocated");
  EXPECT_EQ(Events().add(Op::allocate, 0).add(Op::free_completed, 0).fault(),
            "event 1: the completed free of a block whose free was not requested");
  EXPECT_EQ(
      Events().add(Op::allocate, 0).add(Op::free_requested, 0).add(Op::free_requested, 0).fault(),
      "event 2: the free of a block that is not allocated");
  EXPECT_EQ(Events().add(Op::allocate, 0, 512).add(Op::free, 0, 1024).fault(),
            "event 1: a free of other than the block's size");
  EXPECT_EQ(Events().add(Op::allocate, 4).fault(), "event 0: a slot that there is not");
}

// Events with addresses are looked at one after the other by all rules.
TEST(Gate, FindsTheSameFaultWithAndWithoutAddresses) {
  std::mt19937 draw(1);
  int faults = 0;
  for (int turn = 0; turn < 20'000; ++turn) {
    Events plain;
    std::array<Bytes, 5> live = {};
    for (std::size_t event = 0, events = draw() % 12; event < events; ++event) {
      const auto slot = static_cast<Slot>(draw() % 40 == 0 ? 4 : draw() % 4);
      const bool is_right = draw() % 16 != 0;
      const bool begins = (live[slot] == 0) == is_right;
      Bytes size = begins || draw() % 40 == 0 ? 1 + draw() % 3 : live[slot];
      if (draw() % 60 == 0) size = std::uint64_t{1} << (58 + draw() % 4);
      const auto align_log2 = static_cast<std::uint8_t>(draw() % 8 == 0 ? draw() % 48 : 0);
      plain.add(begins ? Op::allocate : Op::free, slot, size, align_log2);
      live[slot] = begins ? size : 0;
    }
    if (draw() % 3 == 0) plain.trace().coverage.starts_empty = false;
    Trace with_addresses = plain.trace();
    with_addresses.addresses.resize(with_addresses.size());
    with_addresses.lanes = {{}};
    const auto expected = fault_in(with_addresses);
    const std::string found = plain.fault();
    EXPECT_EQ(found, expected ? expected->place + ": " + expected->what : "");
    faults += !found.empty();
  }
  EXPECT_GT(faults, 5'000);
}

TEST(Gate, OfALateStartABlockIsFreedOnce) {
  Events once, twice;
  for (Events* events : {&once, &twice}) events->trace().coverage.starts_empty = false;
  EXPECT_EQ(once.add(Op::free_completed, 0).add(Op::allocate, 0).fault(), "");
  EXPECT_EQ(twice.add(Op::free, 1).add(Op::free, 1).fault(),
            "event 1: the free of a block that is not allocated");
}

TEST(Gate, SizesTimesAndAlignmentsBeyondTheLimitsAreFaults) {
  EXPECT_EQ(Events().add(Op::allocate, 0, kMostBytes - 1).fault(), "");
  EXPECT_EQ(Events().add(Op::allocate, 0, kMostBytes).fault(),
            "event 0: a size of 1,152,921,504,606,846,976 bytes; expected less than 1 EiB, the "
            "most that PyTorch serves");
  EXPECT_EQ(Events().add(Op::allocate, 0, 1, 41).fault(), "event 0: an alignment beyond 1 TiB");
  Events many;
  for (int i = 0; i < 5; ++i)
    many.add(Op::allocate, 0, kMostBytes - 1).add(Op::free, 0, kMostBytes - 1);
  EXPECT_EQ(many.fault(), "event 8: more than 4 EiB of memory so far, one block after the other");
  Events late;
  late.add(Op::allocate, 0).trace().times_us = {kMostTime + 1};
  EXPECT_EQ(late.fault(),
            "event 0: a time of 4611686018427387905 microseconds; expected at most "
            "4611686018427387904 either way");
}

TEST(Gate, SegmentsAreObtainedWhereNoneIsAndReturnedAsTheyAre) {
  constexpr Address kAt = 1 << 20;
  EXPECT_EQ(Events()
                .driver(Op::segment_alloc, kAt, 4096)
                .driver(Op::segment_free, kAt, 4096)
                .driver(Op::segment_map, kAt, 4096)
                .driver(Op::segment_map, kAt + 4096, 4096)
                .driver(Op::segment_unmap, kAt + 1024, 6144)
                .fault(),
            "");
  EXPECT_EQ(Events()
                .driver(Op::segment_alloc, kAt, 4096)
                .driver(Op::segment_map, kAt + 2048, 4096)
                .fault(),
            "event 1: a segment where one is already");
  EXPECT_EQ(
      Events().driver(Op::segment_alloc, kAt, 4096).driver(Op::segment_free, kAt, 512).fault(),
      "event 1: no segment to free");
  EXPECT_EQ(
      Events().driver(Op::segment_alloc, kAt, 4096).driver(Op::segment_unmap, kAt, 4096).fault(),
      "event 1: no segment to unmap");
  EXPECT_EQ(Events().driver(Op::segment_alloc, ~Address{0} - 511, 1024).fault(),
            "event 0: a segment of no size, or beyond 64 bits");
}

TEST(Gate, BlocksTileTheirSegmentsAndSegmentsLieApart) {
  const auto fault_of_start = [](std::vector<SegmentInfo> segments) {
    Events events;
    events.trace().start.segments = std::move(segments);
    return events.fault();
  };
  const BlockInfo live{
      .address = 0, .size = 512, .requested = 500, .state = BlockState::allocated, .slot = 1};
  const BlockInfo free{.address = 512, .size = 512};
  EXPECT_EQ(fault_of_start({segment(0, 1024, {live, free})}), "");
  EXPECT_EQ(fault_of_start({segment(0, 1024, {live})}),
            "the start: blocks that do not tile their segment");
  EXPECT_EQ(fault_of_start({segment(0, 512, {live, free})}),
            "the start: blocks that do not tile their segment");
  EXPECT_EQ(fault_of_start({segment(0, 0, {})}), "the start: a segment of no size");
  EXPECT_EQ(fault_of_start({segment(0, 1024, {live, free}), segment(512, 512, {free})}),
            "the start: segments that overlap");
  BlockInfo other = live;
  other.address = 512;
  EXPECT_EQ(fault_of_start({segment(0, 1024, {live, other})}), "the start: two blocks of one slot");
  other.requested = 513;
  EXPECT_EQ(fault_of_start({segment(0, 1024, {live, other})}),
            "the start: a block smaller than what was requested of it");
}

TEST(Gate, ARefusalNamesTheFileTheDeviceAndTheEvent) {
  const auto complaint = [](int devices, int first) {
    Recording recording{.path = "x.csv"};
    for (int i = 0; i < devices; ++i) {
      Events events;
      if (i == devices - 1) events.add(Op::free, 0);
      events.trace().gpu = first + i;
      TraceBuilder empty(first + i);
      recording.traces.push_back(events.trace());
    }
    for (Trace& trace : recording.traces) trace.lanes = {{}};
    try {
      check_recording(recording);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint(1, 0), "x.csv: event 0: the free of a block that is not allocated");
  EXPECT_EQ(complaint(2, 0), "x.csv: gpu 1, event 0: the free of a block that is not allocated");
  EXPECT_EQ(complaint(1, 1024), "x.csv: device 1024; expected a number from -3 to 1023");
}

TEST(Gate, SettingsBeyondTheirRangeAreRefused) {
  Recording recording{.path = "x.json"};
  for (const double threshold : {-0.5, 1.0, 7.5}) {
    recording.settings.garbage_collection_threshold = threshold;
    EXPECT_THROW(check_recording(recording), InputError) << threshold;
  }
  recording.settings.garbage_collection_threshold = 0.999;
  EXPECT_NO_THROW(check_recording(recording));
  recording.settings.max_split_size = -2;
  EXPECT_THROW(check_recording(recording), InputError);
}

}  // namespace
}  // namespace memreplay
