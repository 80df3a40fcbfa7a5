#include "trace/mrt/block_code.hpp"

#include <gtest/gtest.h>

#include <random>

#include "replay/random_recording.hpp"

namespace memreplay {
namespace {

constexpr NumberLimits kLimits{.slots = 1 << 10, .texts = 100, .stacks = 100};

/// A trace of every operation, with every cold column.
Trace full_trace(std::uint64_t seed) {
  Trace trace = random_recording({.seed = seed, .events = 2000}).traces.front();
  std::mt19937_64 random(seed);
  const auto append = [&](Op op, Slot slot, Bytes size) {
    trace.ops.push_back(op);
    trace.slots.push_back(slot);
    trace.sizes.push_back(size);
    trace.lane_of.push_back(0);
    trace.align_log2.push_back(0);
  };
  for (const Op op : {Op::marker, Op::safe_frontier, Op::oom, Op::segment_alloc, Op::segment_map}) {
    append(op, kNoSlot, random());
  }
  append(Op::allocate, trace.slot_count + 7, UINT64_MAX);  // no likely slot
  append(Op::free_requested, trace.slot_count + 9, 5);     // a block from before
  append(Op::free_completed, trace.slot_count + 9, 5);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    trace.times_us.push_back(static_cast<std::int64_t>(i * 7 + random() % 5) - 1000);
    trace.threads.push_back(static_cast<std::uint32_t>(random()));
    trace.stacks.push_back(static_cast<std::uint32_t>(random() % kLimits.stacks));
    trace.tags.push_back(static_cast<std::uint32_t>(random() % kLimits.texts));
    trace.addresses.push_back(random());
    trace.ids.push_back(i % 3 == 0 ? random() : i);
    trace.freed_before.push_back(random() % 2 ? 0 : random());
    trace.upper_end.push_back(random() % 2);
  }
  return trace;
}

std::vector<std::string> encoded(const Trace& trace, std::size_t block_events) {
  BlockEncoder encoder;
  std::vector<std::string> blocks;
  for (std::size_t from = 0; from < trace.size(); from += block_events) {
    blocks.push_back(encoder.encode(trace, from, std::min(from + block_events, trace.size())));
  }
  return blocks;
}

template <typename T>
std::vector<T> part(const std::vector<T>& column, std::size_t from, std::size_t to) {
  if (column.empty()) return {};
  return {column.begin() + static_cast<std::ptrdiff_t>(from),
          column.begin() + static_cast<std::ptrdiff_t>(to)};
}

EventColumns part(const EventColumns& all, std::size_t from, std::size_t to) {
  EventColumns some;
  for_each_column([&](auto column) { some.*column = part(all.*column, from, to); });
  return some;
}

TEST(BlockCode, WhatIsWrittenIsReadAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const std::size_t events : {1, 7, 300, 5000}) {
      const Trace trace =
          seed % 2 == 0
              ? full_trace(seed)
              : random_recording({.seed = seed, .events = 900, .live_at_most = 200}).traces.front();
      BlockDecoder decoder(kLimits, kEveryColdColumn);
      EventColumns decoded;
      std::size_t from = 0;
      for (const std::string& block : encoded(trace, events)) {
        const std::size_t to = std::min(from + events, trace.size());
        decoder.decode(block, to - from, decoded);
        ASSERT_EQ(decoded, part(trace, from, to)) << seed << " " << from;
        from = to;
      }
    }
  }
}

TEST(BlockCode, ColumnsThatNobodyWantsAreLeftOut) {
  const Trace trace = full_trace(1);
  BlockDecoder decoder(kLimits, cold_columns(ColdColumns::of_requests));
  EventColumns decoded;
  decoder.decode(encoded(trace, trace.size()).front(), trace.size(), decoded);
  EventColumns wanted = trace;
  for (auto column : {&EventColumns::addresses, &EventColumns::ids}) (wanted.*column).clear();
  wanted.stacks.clear();
  wanted.times_us.clear();
  EXPECT_EQ(decoded, wanted);
}

TEST(BlockCode, AnEventTakesThreeBytesOrLess) {
  const auto bytes_an_event = [](const RandomProgram& program) {
    Trace trace = random_recording(program).traces.front();
    std::size_t bytes = 0;
    for (const std::string& block : encoded(trace, 1 << 16)) bytes += block.size();
    return static_cast<double>(bytes) / static_cast<double>(trace.size());
  };
  EXPECT_LT(bytes_an_event({.events = 50'000, .largest_log2 = 8, .streams = 1}), 3);
}

/// A program that does the same in each of its steps.
Trace stepping(std::size_t steps, std::uint64_t seed) {
  Trace trace;
  std::mt19937_64 random(seed);
  std::vector<Bytes> sizes(50);
  for (Bytes& size : sizes) size = random() % 100'000;
  for (std::size_t step = 0; step < steps; ++step) {
    for (const Op op : {Op::allocate, Op::free}) {
      for (Slot slot = 0; slot < 50; ++slot) {
        trace.ops.push_back(op);
        trace.slots.push_back(op == Op::free ? slot : 49 - slot);
        trace.sizes.push_back(sizes[trace.slots.back()]);
        trace.lane_of.push_back(static_cast<std::uint16_t>(slot % 3));
        trace.align_log2.push_back(op == Op::free ? 0 : 4);
      }
    }
  }
  return trace;
}

TEST(BlockCode, WhatRepeatsItselfIsPacked) {
  for (const std::size_t steps : {1, 3, 30, 600}) {
    const Trace trace = stepping(steps, steps);
    const std::string block = encoded(trace, trace.size()).front();
    if (steps >= 30) {
      EXPECT_LT(block.size() * 4, trace.size());
    }
    EXPECT_GE(block.size() * kMostEventsAByte, trace.size());
    BlockDecoder decoder(kLimits, kEveryColdColumn);
    EventColumns decoded;
    decoder.decode(block, trace.size(), decoded);
    EXPECT_EQ(decoded, static_cast<const EventColumns&>(trace)) << steps;
  }
}

void expect_no_crash(const std::string& block, std::size_t count) {
  BlockDecoder decoder(kLimits, kEveryColdColumn);
  EventColumns events;
  try {
    decoder.decode(block, count, events);
    EXPECT_EQ(events.ops.size(), count);
    for (const Slot slot : events.slots) EXPECT_TRUE(slot == kNoSlot || slot < kLimits.slots);
    for (const std::uint32_t tag : events.tags) EXPECT_LT(tag, kLimits.texts);
  } catch (const MrtFault&) {
  }
}

TEST(BlockCode, WhateverTheBytesAreTheDecoderStaysWithinItsLimits) {
  std::mt19937_64 random(3);
  const std::string some[] = {encoded(full_trace(2), 100).front(),
                              encoded(stepping(9, 1), 900).front()};
  for (int i = 0; i < 6000; ++i) {
    std::string bad = some[i % 2];
    for (std::uint64_t changes = random() % 4; changes-- > 0;) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    expect_no_crash(bad, i % 2 == 0 ? 100 : 900);
    for (char& c : bad) c = static_cast<char>(random());
    expect_no_crash(bad, 1 + random() % 100);
  }
}

TEST(BlockCode, NumbersOfEveryLengthAreReadAgain) {
  std::string bytes;
  std::vector<std::uint64_t> numbers;
  for (int bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t number : {(std::uint64_t{1} << bits) - 1, std::uint64_t{1} << bits}) {
      numbers.push_back(number);
      put_number(bytes, number);
    }
  }
  ByteCursor cursor(bytes);
  for (const std::uint64_t number : numbers) EXPECT_EQ(cursor.number(), number);
  EXPECT_EQ(cursor.left(), 0u);
  EXPECT_THROW(cursor.number(), MrtFault);
}

}  // namespace
}  // namespace memreplay
