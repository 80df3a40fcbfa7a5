#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// What an event of a trace does. `free` is `free_requested` and `free_completed` at once.
enum class Op : std::uint8_t {
  allocate,
  free,
  free_requested,  ///< the caller is done with the block, another stream may still use it
  free_completed,  ///< no stream uses the block any more
  empty_cache,
  marker,         ///< text in the tag column
  safe_frontier,  ///< BFC: the number is in the size column
  oom,  ///< the recorded program was refused `size` bytes; the address column holds the device's
        ///< free bytes
  // What the recorded allocator asked of the driver. Never replayed, only compared with.
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
};

constexpr bool is_driver_event(Op op) { return op >= Op::segment_alloc; }
constexpr bool obtains_memory(Op op) { return op == Op::segment_alloc || op == Op::segment_map; }
constexpr bool returns_memory(Op op) { return op == Op::segment_free || op == Op::segment_unmap; }
/// The program asked for memory, whether it got any or not.
constexpr bool is_request(Op op) { return op == Op::allocate || op == Op::oom; }

/// PyTorch's name of a driver event.
constexpr std::string_view driver_name(Op op) {
  switch (op) {
    case Op::segment_alloc:
      return "segment_alloc";
    case Op::segment_free:
      return "segment_free";
    case Op::segment_map:
      return "segment_map";
    default:
      return "segment_unmap";
  }
}

enum class BlockState : std::uint8_t {
  allocated,
  pending,  ///< freed by its owner, still used by another stream
  free,
};

struct BlockInfo {
  Address address = 0;
  Bytes size = 0;       ///< after rounding
  Bytes requested = 0;  ///< 0 for a free block
  BlockState state = BlockState::free;
  Slot slot = kNoSlot;      ///< slot in the trace; kNoSlot for a free block
  std::uint32_t stack = 0;  ///< index into the recording's stacks; 0: none

  friend bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

/// A range obtained from the device. Its blocks tile it in address order.
struct SegmentInfo {
  Address address = 0;
  Bytes size = 0;
  StreamIndex stream = 0;
  PoolIndex pool = 0;
  bool small_pool = false;  ///< PyTorch's pool of blocks up to 1 MiB
  bool expandable = false;  ///< one mapped run of a reservation
  std::uint32_t age = 0;    ///< lower is older; those of equal age count by address
  std::vector<BlockInfo> blocks;

  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

/// What an allocator holds at one moment: segments by ascending address.
struct MemoryState {
  std::vector<SegmentInfo> segments;

  friend bool operator==(const MemoryState&, const MemoryState&) = default;
};

/// Bytes that the segments hold together.
inline Bytes reserved_bytes(const MemoryState& state) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : state.segments) sum += segment.size;
  return sum;
}

/// What the program did right before an event, or what completes there later than recorded.
struct InferredCall {
  enum class Kind : std::uint8_t {
    complete,      ///< no stream uses the parked block any more
    empty_cache,   ///< unused memory is to be returned to the device
    end_pool,      ///< a private pool was deleted: what it caches is returned at once
    release_pool,  ///< nobody holds a private pool any more: later releases include it
    park,  ///< the event is a `free_completed` that does not come yet: its block leaves its slot
  };
  std::uint64_t before = 0;  ///< the event
  Kind kind = Kind::empty_cache;
  PoolIndex pool = 0;
  std::uint32_t parked = 0;  ///< number shared by a `park` and its `complete`

  friend bool operator==(const InferredCall&, const InferredCall&) = default;
};

/// Fills the columns of a program that is longer than memory, for who plays it from first to last.
class ProgramFeed {
 public:
  virtual ~ProgramFeed() = default;
  /// How far ahead of `event` the columns can be read then, at least; what lies before it is gone.
  static constexpr std::uint64_t kAhead = (1 << 14) + 64;
  /// To be called with ascending events, the first of them 0. Throws InputError.
  virtual void advance(std::uint64_t event) = 0;
};

/// All that a program asks of an allocator: its events, and its acts between them. A player does
/// the acts before an event in their order, then plays the event. Requests of no bytes are passed
/// over, and so is whatever frees a block that was never placed. A refused request (Op::oom) is
/// made once more; where it is served now, its block is freed at once. With `refusals_stand` it is
/// refused again, whatever is free.
struct Program {
  /// A block that is there before the first event.
  struct Block {
    Slot slot = kNoSlot;
    bool pending = false;  ///< freed by its owner, still used by another stream
    Request request;
  };

  Program() = default;
  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  // By event, up to the last that is played. Views of the trace, but for `sizes` of a scaled one;
  // with a `feed`, to be read as that allows.
  std::span<const Op> ops;
  std::span<const std::uint8_t> align_log2;
  std::span<const std::uint16_t> lane_of;  ///< index into lanes
  std::span<const Slot> slots;
  std::span<const Bytes> sizes;
  // Empty where the trace does not say.
  std::span<const std::int64_t> times_us;
  std::span<const std::uint32_t> threads;
  std::span<const std::uint32_t> tags;
  std::span<const std::uint64_t> freed_before;
  std::span<const std::uint8_t> upper_end;

  std::span<const StreamPool> lanes;
  Slot slot_count = 0;                 ///< one above the highest slot in use
  const MemoryState* start = nullptr;  ///< as recorded before the first event; never null
  bool starts_cold = false;            ///< nothing of `start` is there
  bool keeps_cache = false;            ///< events that empty the cache are passed over
  bool refusals_stand = false;         ///< nobody knows the device that they are due to
  bool says_more = false;  ///< requests carry more than size, alignment, stream and pool

  std::vector<Block> blocks;          ///< blocks of `start`, by address; empty where it starts cold
  std::vector<InferredCall> acts;     ///< in order; completions may come after the last event
  std::uint32_t parkings = 0;         ///< all numbers of parked blocks are below
  std::vector<Bytes> rescaled;        ///< what `sizes` views where it does not view the trace
  std::unique_ptr<ProgramFeed> feed;  ///< null: all events are there

  std::size_t size() const { return ops.size(); }
  StreamPool lane(std::size_t event) const { return lanes[lane_of[event]]; }

  /// The request that an event makes; only for requests.
  Request request(std::size_t event) const {
    const StreamPool lane = this->lane(event);
    const std::uint8_t log2 = align_log2[event];
    Request request{sizes[event], log2 == 0 ? 0 : Bytes{1} << log2, lane.stream, lane.pool};
    if (says_more) {
      if (!threads.empty()) request.thread = threads[event];
      if (!tags.empty()) request.tag = tags[event];
      if (!freed_before.empty()) request.freed_before = freed_before[event];
      if (!upper_end.empty()) request.upper_end = upper_end[event] != 0;
    }
    return request;
  }

  /// Who gives the block back; only for frees.
  FreeOrigin giver(std::size_t event) const {
    return {lane(event).stream, threads.empty() ? 0 : threads[event]};
  }
};

}  // namespace memreplay
