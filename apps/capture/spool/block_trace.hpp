#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/address_table.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay::capture {

/// When and by whom an event was made.
struct Made {
  std::int64_t time_us = 0;
  std::uint32_t thread = 0;  ///< the kernel's number
};

/// A block as its request describes it.
struct Block {
  Bytes size = 0;
  std::uint8_t align_log2 = 0;
  std::uint64_t stream = 0;
  PoolId pool;
};

/// The events of one device, told by addresses: numbers blocks and threads, and counts what does
/// not fit together. Memory is that of the live blocks, and of events until they are taken.
class BlockTrace {
 public:
  explicit BlockTrace(int gpu) : builder_(gpu) {}

  /// What follows happened before this recording: its blocks are known, and no events.
  void begin_past() { is_past_ = true; }
  /// The past ends: its blocks become the first events, the oldest first.
  void end_past(std::int64_t time_us);

  void allocate(Address address, const Block& block, Made made);
  /// False where no block is there: that is counted. `stream` where it is not the block's own.
  bool free(Address address, Made made, std::optional<std::uint64_t> stream = std::nullopt);
  void refuse(const Block& block, Made made);

  /// The events since the last `clear_events`, in columns.
  EventColumns& events() { return builder_.trace(); }
  std::size_t event_count() const { return builder_.size(); }
  void clear_events();
  std::uint64_t live_blocks() const { return live_count_; }
  Bytes live_bytes() const { return live_bytes_; }
  Coverage& coverage() { return builder_.trace().coverage; }
  Trace finish() { return builder_.finish(); }

 private:
  struct Live {
    Block block;
    Slot slot = kNoSlot;
    std::uint16_t lane = 0;
    std::uint64_t number = 0;  ///< number of its allocation
    std::uint32_t thread = 0;
  };

  void add(Op op, const Live& live, Made made);
  void forget(Address address, const Live& live);
  std::uint32_t number_of(std::uint32_t thread);

  TraceBuilder builder_;
  AddressTable<Live> live_;
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  bool is_past_ = false;
  std::uint64_t allocations_ = 0;
  std::uint64_t live_count_ = 0;
  Bytes live_bytes_ = 0;
};

}  // namespace memreplay::capture
