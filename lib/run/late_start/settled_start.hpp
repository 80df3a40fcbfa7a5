#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/program.hpp"
#include "program/rewrite.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Right before which of its events a program has least: there a step begins. O(events).
std::uint64_t least_live_at(const Trace& trace);

/// How memory came to where a recording begins.
struct SettledStart {
  enum class Age { by_address, against_address };
  Age age = Age::by_address;  ///< in which order blocks that stay were requested
  bool from_step = true;      ///< the steps before begin where one does, else as the recording does

  friend bool operator==(const SettledStart&, const SettledStart&) = default;
};

/// A state of memory that a rehearsal led to.
struct SettledMemory {
  MemoryState state;
  bool by_optimizer = false;  ///< it shows an optimizer, some of whose state is there
};

/// The memory of the recorded allocator before the first event of `made`, a recording that was made
/// from `of`, which starts late: the blocks that stay are requested anew, then a step is played as
/// the made recording has it. The start of `made` holds its blocks in the order of those of `of`.
/// Unset where `of` is of another allocator, or memory has no room. Costs one replay.
std::optional<SettledMemory> settled_start(const Subject& made, const Subject& of,
                                           const SettledStart& how);

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
