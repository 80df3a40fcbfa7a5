#pragma once

#include <functional>
#include <optional>
#include <span>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

struct EndingsWish {
  double waste = 0.03;     ///< what it costs to leave a gap of the block's own size or more
  bool backwards = false;  ///< from the last time to the first
};

/// Worth trying one after the other.
inline constexpr EndingsWish kEndingsWishes[] = {{0.03, false}, {0.03, true}, {0.3, false},
                                                 {0.3, true},   {1.0, false}, {1.0, true}};

inline const char* name_of(const EndingsWish& wish) {
  return wish.backwards ? "endings, backwards" : "endings";
}

/// For very many blocks: a sweep over time that puts each into the gap, and there beside the block,
/// whose end is nearest to its own (as a part of its length), so that both leave one gap. Unset
/// where `over`, asked now and then, says that it is. O(n * live blocks).
std::optional<Packing> place_by_endings(std::span<const PlannedBlock> blocks,
                                        const EndingsWish& wish, const std::function<bool()>& over);

}  // namespace memreplay
