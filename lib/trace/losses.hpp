#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/trace.hpp"
#include "trace/writer.hpp"

namespace memreplay {

/// What a log of allocations and frees has a place for, beside their sizes.
struct LogPlaces {
  bool streams = false;
  bool threads = false;
  bool times = false;
  bool alignments = false;
  bool refusals = false;
  bool last_ends = true;  ///< blocks that outlive the last request may end one by one, or never
  /// Requests of no bytes, delayed frees, markers, emptied caches, safe frontiers, pools, tags.
  bool all_calls = false;
};

/// What such a log leaves out of the only trace of a recording, with counts, as one phrase. `log`:
/// "an RMM log". O(events).
Losses left_out_of(const Recording& recording, std::string_view log, LogPlaces has);

/// Events that request a free which never completes: the block stays in use. Ascending.
std::vector<std::size_t> unfinished_frees(const Trace& trace);

}  // namespace memreplay
