#pragma once

#include <string_view>

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
};

/// What such a log leaves out of a trace, with counts, as one phrase. `log`: "an RMM log".
/// O(events).
Losses left_out_of(const Trace& trace, std::string_view log, LogPlaces has);

}  // namespace memreplay
