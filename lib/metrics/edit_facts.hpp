#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// What an edit of a program did to its trace.
struct EditFacts {
  std::string edit;                       ///< as it was given: "checkpoint:function=attn"
  std::uint64_t blocks = 0;               ///< how many it changed
  Bytes bytes = 0;                        ///< requested by them before
  Bytes recomputed_bytes = 0;             ///< asked for a second time
  std::uint64_t recomputed_requests = 0;  ///< likewise
  Bytes largest_segment = 0;              ///< the most bytes that die early in one stretch of code
  Bytes moved_bytes = 0;                  ///< to another memory and back, each way counted
  double moving_seconds = 0;              ///< at the bandwidth that was given
  Bytes other_memory_peak = 0;            ///< held there at most
  std::vector<std::string> remarks;       ///< sentences
};

}  // namespace memreplay
