#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/torch_sizes.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {

/// A block that existed before the first entry of a recording.
struct StartBlock {
  Address address = 0;
  Bytes requested = 0;
  Bytes size = 0;  ///< 0: not stated, to be found
  BlockState state = BlockState::allocated;
  Slot slot = kNoSlot;
  std::uint32_t stack = 0;          ///< its allocation's; 0: not known
  std::size_t first_free = 0;       ///< the first entry that frees it
  std::size_t freed_at = SIZE_MAX;  ///< entry that ends it
};

/// Plain segments and mapped runs of one device, walked backwards from the end of a recording.
class SegmentHistory {
 public:
  struct Segment {
    Bytes size = 0;
    std::uint64_t stream = 0;
    std::uint32_t pool = kUnknownPool;
    bool small_pool = false;
    bool expandable = false;
  };

  /// `segments`: apart from each other.
  SegmentHistory(const std::vector<TorchSegment>& segments, Bytes large_segment_size);

  /// Undoes a segment entry. False, and nothing done, where it contradicts the segments so far.
  bool undo(const TorchEntry& entry);
  /// Does a segment entry again. False, and nothing done, where it contradicts them.
  bool redo(const TorchEntry& entry);
  /// The segment that holds `address` at this point; null where there is none.
  const Segment* find(Address address) const;
  const std::map<Address, Segment>& segments() const { return segments_; }

 private:
  bool is_apart(const TorchEntry& entry) const;
  bool add_plain(const TorchEntry& entry);
  bool take_plain(const TorchEntry& entry);
  bool add_mapped(const TorchEntry& entry);

  std::map<Address, Segment> segments_;
  Bytes large_segment_size_;
};

/// Segments and mapped runs of one device by address.
using SegmentTable = std::map<Address, SegmentHistory::Segment>;

/// Enters a mapped run where nothing is. With runs that touch it and for which `joins` is true it
/// becomes one, in the pool of the one after it.
void add_run(SegmentTable& segments, Address from, SegmentHistory::Segment run,
             const std::function<bool(const SegmentHistory::Segment&)>& joins);
/// Takes a range out of the mapped runs that hold it. False, and nothing done, where they do not.
bool cut_run(SegmentTable& segments, Address from, Bytes size);

/// The settings from which sizes of blocks follow.
struct BlockRules {
  torch::RoundupTable roundup{};
  Bytes max_split_size = torch::kUnlimited;
  bool expandable = false;
  bool one_is_unrounded = false;
  Bytes request_padding = 0;
};

/// Lays the blocks into the segments of the first moment; free space is what is left. Streams and
/// pools are those of `number`. Blocks outside any segment are counted in `unplaced`. Sizes that
/// the recording does not state follow from PyTorch's rule that a free piece of a plain large
/// segment is larger than 1 MiB: less than that after a block belongs to it.
MemoryState lay_out_start(const SegmentTable& segments, std::vector<StartBlock>& blocks,
                          std::span<const TorchEntry> entries, const BlockRules& rules,
                          std::uint64_t& unplaced);

}  // namespace memreplay
