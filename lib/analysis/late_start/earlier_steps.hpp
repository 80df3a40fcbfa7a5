#pragma once

#include <string>

#include "analysis/late_start/parts.hpp"
#include "analysis/late_start/stage.hpp"

namespace memreplay {

enum class WarmKind {
  fresh,    ///< nothing ran before but what made the live blocks
  steady,   ///< earlier steps were like those recorded
  smaller,  ///< earlier steps were smaller
  larger,   ///< an earlier step was larger than any recorded one
};

std::string name_of(WarmKind kind);

/// What came before a recording, told from the memory that it left cached.
struct EarlierSteps {
  WarmKind kind = WarmKind::fresh;
  double largest = 0;  ///< size of the largest one, in those of the recording; 0: none
};

/// `recorded` is the allocator under its own settings, without a limit. At most six rehearsals.
EarlierSteps earlier_steps(const WarmParts& parts, bool expandable, Stage& recorded);

}  // namespace memreplay
