#include "strategy/play.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/registered.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

/// Events at random: streams, private pools, delayed frees, empty requests, those of a driver.
struct RandomEvents {
  explicit RandomEvents(std::uint64_t seed) : random(seed) {
    for (int i = 0; i < 12'000; ++i) add_one(i / 3'000 % 2 == 0 ? 60 : 40);
    program.ops = ops;
    program.slots = slots;
    program.sizes = sizes;
    program.lane_of = lane_of;
    program.align_log2 = align_log2;
    program.lanes = lanes;
    program.slot_count = slot_count;
  }

  void add_one(std::uint64_t share_of_requests) {
    const auto dice = random() % 100;
    if (dice < 2) return add(random() % 2 ? Op::segment_alloc : Op::segment_free, kNoSlot, 0, 0);
    if (!pending.empty() && dice < 8) {
      const std::size_t done = take(pending);
      add(Op::free_completed, slots[done], sizes[done], lane_of[done]);
      return free_slots.push_back(slots[done]);
    }
    if (!live.empty() && random() % 100 >= share_of_requests) {
      const std::size_t gone = take(live);
      if (dice > 90) {
        add(Op::free_requested, slots[gone], sizes[gone], lane_of[gone]);
        return pending.push_back(gone);
      }
      add(Op::free, slots[gone], sizes[gone], lane_of[gone]);
      return free_slots.push_back(slots[gone]);
    }
    live.push_back(ops.size());
    Bytes size = 1 + random() % (Bytes{1} << (random() % 26));
    if (dice == 50) size = 0;
    if (free_slots.empty()) free_slots.push_back(slot_count++);
    const auto lane = static_cast<std::uint16_t>(random() % 4 == 0 ? 1 + random() % 3 : 0);
    add(Op::allocate, free_slots.back(), size, lane);
    free_slots.pop_back();
  }

  void add(Op op, Slot slot, Bytes size, std::uint16_t lane) {
    ops.push_back(op);
    slots.push_back(slot);
    sizes.push_back(size);
    lane_of.push_back(lane);
    align_log2.push_back(0);
  }
  std::size_t take(std::vector<std::size_t>& events) {
    std::swap(events[random() % events.size()], events.back());
    const std::size_t event = events.back();
    events.pop_back();
    return event;
  }

  std::mt19937_64 random;
  std::vector<Op> ops;
  std::vector<Slot> slots;
  std::vector<Bytes> sizes;
  std::vector<std::uint16_t> lane_of;
  std::vector<std::uint8_t> align_log2;
  std::vector<StreamPool> lanes = {{0, 0}, {1, 0}, {0, 1}, {2, 1}};
  Slot slot_count = 0;
  std::vector<Slot> free_slots;
  std::vector<std::size_t> live, pending;  ///< events that asked
  Program program;
};

/// A strategy on a device of its own, and what came of the events so far.
struct Side {
  Side(const std::string& spec, std::optional<Bytes> capacity, Slot slots)
      : device(SimulatedDeviceOptions{.capacity = capacity}),
        strategy(make_strategy(
            parse_strategy(spec),
            {.device = device, .capacity = capacity, .recorded = &settings, .pools = pools})),
        blocks(slots) {
    look_at_device();  // some take memory when they are made
  }

  void look_at_device() {
    if (tally.is_fuller(device.usage())) tally.note_fuller(strategy->free_space());
    if (!tally.holds_more(device.usage())) return;
    tally.highest_held = device.usage().peak_held;
    tally.peak_reserved = std::max(tally.peak_reserved, tally.highest_held);
    tally.note_fuller(strategy->free_space());
  }

  /// One event by the calls that every strategy has.
  void play_one(const Program& program, std::uint64_t event) {
    const Op op = program.ops[event];
    tally.events += !is_driver_event(op);
    if (op == Op::allocate) {
      ++tally.requests;
      if (program.sizes[event] == 0) return;
      if (const auto placed = strategy->allocate(program.request(event))) {
        blocks[program.slots[event]] = *placed;
        tally.add_block(program.sizes[event], placed->size);
        tally.note_allocated();
      }
      return look_at_device();
    }
    if (is_driver_event(op)) return;
    Placement& block = blocks[program.slots[event]];
    if (block.handle == kNoHandle) return;
    const Handle handle = block.handle;
    if (op != Op::free_completed) tally.remove_block(program.sizes[event], block.size);
    if (op == Op::free_requested) return strategy->request_free(handle);
    block.handle = kNoHandle;
    if (op == Op::free_completed) return strategy->complete_free(handle);
    strategy->free(handle, program.giver(event));
  }

  /// Many of them, as far as the strategy plays them by itself.
  void play(const Program& program, std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      const StopPoint halt =
          strategy->play({program, from, to, blocks, tally, device.usage(), event_under_way});
      from = halt.next;
      if (halt.why == Pause::other) play_one(program, from++);
      if (halt.why == Pause::refused || halt.why == Pause::holds_more) look_at_device();
    }
  }

  RecordedSettings settings;
  std::vector<PoolId> pools = {{0, 0}, {0, 1}};
  SimulatedDevice device;
  std::unique_ptr<Strategy> strategy;
  std::vector<Placement> blocks;
  Tally tally;
  std::uint64_t event_under_way = 0;
};

void expect_same(const Side& one, const Side& many) {
  for (Slot slot = 0; slot < one.blocks.size(); ++slot) {
    ASSERT_EQ(one.blocks[slot].handle == kNoHandle, many.blocks[slot].handle == kNoHandle) << slot;
    if (one.blocks[slot].handle == kNoHandle) continue;
    ASSERT_EQ(one.blocks[slot].address, many.blocks[slot].address) << slot;
    ASSERT_EQ(one.blocks[slot].size, many.blocks[slot].size) << slot;
  }
  ASSERT_EQ(one.tally, many.tally);
  ASSERT_EQ(one.device.usage().held, many.device.usage().held);
}

class PlaysOf : public testing::TestWithParam<std::string> {};

TEST_P(PlaysOf, ManyEventsACallAreTheSameAsOneByOne) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const RandomEvents events(seed);
    const Program& program = events.program;
    const std::optional<Bytes> capacity =
        seed == 1 ? std::nullopt : std::optional<Bytes>(seed * 192 * kMiB);
    Side one(GetParam(), capacity, events.slot_count);
    if (one.strategy->usage().moved_out != nullptr) GTEST_SKIP() << "its blocks move";
    Side many(GetParam(), capacity, events.slot_count);
    std::mt19937_64 random(seed);
    for (std::uint64_t from = 0; from < program.size();) {
      // Now and then many at once, else few, so that every placement is seen.
      const std::uint64_t length = 1 + random() % (random() % 20 == 0 ? 2'000 : 8);
      const std::uint64_t to = std::min<std::uint64_t>(program.size(), from + length);
      many.play(program, from, to);
      for (; from < to; ++from) one.play_one(program, from);
      expect_same(one, many);
      if (HasFatalFailure()) FAIL() << GetParam() << " seed " << seed << " before event " << to;
    }
    EXPECT_EQ(one.strategy->testimony().counters, many.strategy->testimony().counters);
  }
}

std::vector<std::string> specs() {
  std::vector<std::string> specs;
  for (const std::size_t number : strategies_to_simulate()) {
    specs.push_back(example_of(strategies()[number]));
  }
  for (const char* options :
       {"max_split_size_mb=20", "roundup_power2_divisions=4", "expandable_segments=True",
        "expandable_segments=True,max_split_size_mb=20",
        "garbage_collection_threshold=0.5,per_process_memory_fraction=0.9", "version=2.9",
        "version=2.12", "version=2.0,roundup_power2_divisions=1"}) {
    specs.push_back(std::string("torch:") + options);
  }
  return specs;
}

INSTANTIATE_TEST_SUITE_P(Registry, PlaysOf, testing::ValuesIn(specs()),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace memreplay
