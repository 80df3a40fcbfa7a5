#pragma once

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "trace/trace_builder.hpp"

namespace memreplay {

struct RandomProgram {
  std::uint64_t seed = 1;
  int events = 300;
  std::size_t live_at_most = 24;
  int largest_log2 = 21;  ///< the largest request's
  int streams = 4;
  int pools = 1;  ///< in each stream
  /// In a hundred events: markers, refused requests and requests of no bytes.
  unsigned rare = 0;
  bool leaves_frees_open = true;  ///< some never complete
};

/// A recording of a program that allocates on several streams, frees at once or when other streams
/// are done, and empties the cache now and then.
inline Recording random_recording(const RandomProgram& program) {
  struct Block {
    Slot slot;
    std::uint16_t lane;
    Bytes size;
  };
  std::mt19937_64 random(program.seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  TraceBuilder builder(0);
  std::vector<std::uint16_t> lanes;
  for (int lane = 0; lane < program.streams * program.pools; ++lane) {
    lanes.push_back(builder.lane(static_cast<std::uint64_t>(lane % program.streams),
                                 PoolId{0, static_cast<std::uint64_t>(lane / program.streams)}));
  }
  std::vector<Block> live;
  std::vector<Block> pending;
  const auto take = [&](std::vector<Block>& blocks) {
    std::swap(blocks[below(blocks.size())], blocks.back());
    const Block block = blocks.back();
    blocks.pop_back();
    return block;
  };
  const auto add_rare = [&] {
    const std::uint16_t lane = lanes[below(lanes.size())];
    const auto kind = below(3);
    if (kind == 0) return builder.add(Op::marker, lanes[0], kNoSlot, 0);
    if (kind == 1) return builder.add(Op::oom, lane, kNoSlot, Bytes{1} << program.largest_log2);
    live.push_back({builder.take_slot(), lane, 0});
    builder.add(Op::allocate, lane, live.back().slot, 0);
  };
  for (int event = 0; event < program.events; ++event) {
    if (program.rare > 0 && below(100) < program.rare) {
      add_rare();
      continue;
    }
    const auto dice = below(100);
    if (dice < 2) {
      builder.add(Op::empty_cache, 0, kNoSlot, 0);
    } else if (dice < 12 && !pending.empty()) {
      const Block block = take(pending);
      builder.add(Op::free_completed, block.lane, block.slot, block.size);
      builder.return_slot(block.slot);
    } else if (live.empty() || (dice < 58 && live.size() < program.live_at_most)) {
      const Bytes power = Bytes{1} << below(static_cast<std::uint64_t>(program.largest_log2));
      const Block block{builder.take_slot(), lanes[below(lanes.size())], power + below(power)};
      const auto align_log2 = static_cast<std::uint8_t>(below(8) == 0 ? 8 : 0);
      builder.add(Op::allocate, block.lane, block.slot, block.size, align_log2);
      live.push_back(block);
    } else if (const Block block = take(live); below(3) == 0) {
      builder.add(Op::free_requested, block.lane, block.slot, block.size);
      pending.push_back(block);
    } else {
      builder.add(Op::free, block.lane, block.slot, block.size);
      builder.return_slot(block.slot);
    }
  }
  while (!program.leaves_frees_open && !pending.empty()) {
    const Block block = take(pending);
    builder.add(Op::free_completed, block.lane, block.slot, block.size);
  }
  Recording recording;
  recording.path = "random";
  recording.format = "csv";
  recording.texts = {""};
  recording.stacks = {{}};
  recording.traces.push_back(builder.finish());
  return recording;
}

}  // namespace memreplay
