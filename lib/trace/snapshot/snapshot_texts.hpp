#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

/// Numbers the texts, frames, stacks and pools of a snapshot while it is read. The numbers are
/// provisional: `finish` renumbers by first use, so that every reader gives the same snapshot.
class SnapshotTexts {
 public:
  SnapshotTexts();
  SnapshotTexts(const SnapshotTexts&) = delete;
  SnapshotTexts& operator=(const SnapshotTexts&) = delete;

  /// The number of a text. Bytes that are no UTF-8 become U+FFFD, so that every report can print
  /// it.
  std::uint32_t text(std::string_view text);
  std::uint32_t frame(std::string_view name, std::string_view file, std::uint32_t line);
  std::uint32_t stack(std::span<const std::uint32_t> frames);
  std::uint32_t pool(PoolId id);

  std::span<const std::uint32_t> frames_of(std::uint32_t stack) const;
  PoolId pool_id(std::uint32_t pool) const { return pools_[pool]; }

  /// Moves into the snapshot what its segments, entries and annotations refer to.
  void finish(TorchSnapshot& snapshot);

 private:
  struct StackRange {
    std::size_t begin = 0;
    std::size_t count = 0;
    std::uint64_t hash = 0;
  };
  void grow_stack_slots();

  std::deque<std::string> texts_;  // stable: the map's keys point into it
  std::unordered_map<std::string_view, std::uint32_t> text_numbers_;
  std::vector<Frame> frames_;
  std::map<Frame, std::uint32_t> frame_numbers_;
  std::vector<StackRange> stacks_;
  std::vector<std::uint32_t> stack_frames_;
  std::vector<std::uint32_t> stack_slots_;  // open addressing, number + 1; 0: empty
  std::vector<PoolId> pools_;
  std::map<PoolId, std::uint32_t> pool_numbers_;
};

}  // namespace memreplay
