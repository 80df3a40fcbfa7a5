#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/edit/made_recording.hpp"
#include "analysis/late_start/settled_start.hpp"

namespace memreplay {

/// A way in which the memory may have come about in which a recording begins, tried on itself.
struct StartTried {
  SettledStart how;
  double miss = 0;  ///< error of its reserved peak, as a share: above 0 where more is reserved
};

/// All ways, the likeliest first; none of a recording that starts cold, or of another allocator
/// than a modelled one. A few replays.
std::vector<StartTried> starts_tried(const Subject& recorded);

/// A recording that was made from `of`, and `trace` with each of its starts: the first is the one
/// that missed least on the recordings it was tried on. One, unchanged, where it starts cold.
struct SettledRecordings {
  std::vector<MadeRecording> made;
  double reserved_open = 0;  ///< see MadeRecordings, of the first one
};
SettledRecordings settled(const Subject& of, Rewritten trace, const std::string& why,
                          std::span<const std::span<const StartTried>> tried);

}  // namespace memreplay
