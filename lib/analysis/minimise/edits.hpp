#pragma once

#include <vector>

#include "analysis/minimise/story.hpp"

namespace memreplay {

/// Two blocks made one: where it begins and where it ends.
struct Joint {
  bool born_first = true;  ///< with the earlier of the two, else with the later
  bool freed_last = true;
};
inline constexpr Joint kJoints[] = {{true, true}, {false, true}, {true, false}, {false, false}};

/// `into` is born before `other`; both are freed or neither. False, and nothing done, where the one
/// block would end before it begins.
bool join(Story::Block& into, const Story::Block& other, Joint joint);

/// What takes the room of blocks that were left out.
struct Filler {
  Bytes growth = 0;           ///< added to the first block
  std::vector<Bytes> blocks;  ///< before it
  std::vector<Bytes> late;    ///< right before the last block
};

/// With the blocks of `filler` before all others and before the last one, and the first one larger
/// by its growth: that is a block of its own where the first one is freed, or the last of the
/// story. O(blocks).
Story filled(Story story, const Filler& filler);

}  // namespace memreplay
