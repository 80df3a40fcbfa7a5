#include "verify/device_size.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.hpp"
#include "core/torch_sizes.hpp"
#include "trace/recorded_levels.hpp"

namespace memreplay {

// An OOM entry states what was free then; where that was enough, a limit refused and the device's
// size stays unknown.
Bytes most_once_held(const Trace& trace, Bytes large_segment_size) {
  RecordedLevels levels(trace);
  Bytes largest = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    levels.play(i);
    if (trace.ops[i] != Op::oom) continue;
    const Bytes free = trace.addresses[i];
    if (free < torch::get_allocation_size(trace.sizes[i], large_segment_size)) {
      largest = std::max(largest, levels.reserved() + free);
    }
  }
  return std::max(largest, levels.peaks().reserved().reserved);
}

Divergence divergence_of(const SizeConflict& conflict, Bytes room, std::uint64_t event) {
  const std::string beside =
      fmt::format("{} held, and {} for the allocator", exact_size(conflict.held), exact_size(room));
  const std::string asked = fmt::format("{} from the device", exact_size(conflict.asked));
  const std::string full = "a full device";
  if (conflict.asked == 0) return {event, "what was there before the recording", full, beside};
  if (conflict.granted) return {event, asked, full, beside};
  return {event, full, asked, beside};
}

}  // namespace memreplay
