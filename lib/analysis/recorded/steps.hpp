#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A span of a trace with a name: the events in [from, to).
struct Phase {
  std::string name;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint32_t depth = 0;  ///< scopes around it

  friend bool operator==(const Phase&, const Phase&) = default;
};

/// The annotated scopes of the trace's device, by their beginning, outer before inner ones. Scopes
/// in which nothing happened are left out; one that does not end lasts to the end.
std::vector<Phase> annotated_phases(const Recording& recording, const Trace& trace);

/// Where the steps of a program (of a training, of a server) begin.
struct Steps {
  enum class Source { none, markers, annotations, repetition };
  Source source = Source::none;
  std::vector<std::uint64_t> begins;  ///< first events, ascending

  /// The step, counted from 1, in which the event lies; 0 before the first one.
  std::uint64_t of(std::uint64_t event) const;
};

/// From markers (which end a step); else from annotations: ProfilerStep, or the outermost scope
/// that recurs most often; else, where the last requests repeat at least three times, from that:
/// the shortest period of their stacks (of their sizes, where there are none). O(events).
Steps steps_of(const Recording& recording, const Trace& trace);

}  // namespace memreplay
