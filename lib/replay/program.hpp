#pragma once

#include <cstdint>
#include <vector>

#include "core/program.hpp"
#include "trace/trace.hpp"
#include "verify/subject.hpp"

namespace memreplay {

enum class StartMode {
  automatic,  ///< what existed before the recording is there
  cold,       ///< it does not exist; what frees it is skipped
};

/// What is played of a trace.
struct ProgramOptions {
  std::uint64_t to = UINT64_MAX;  ///< events from it on are left out
  StartMode start = StartMode::automatic;
  Bytes scale = 1;                  ///< every size is divided by it, rounded up; at least 1
  bool ignore_empty_cache = false;  ///< the program's own calls; pools then end without a release
  /// What the recorded program was refused is refused again: nobody says how large the device is.
  bool refusals_stand = false;
  std::vector<std::uint64_t> insert_empty_cache;  ///< events before which it is called, ascending
};

/// A size of the trace as it is replayed.
inline Bytes scaled(Bytes size, Bytes scale) {
  return scale == 1 ? size : size / scale + (size % scale != 0);
}

/// Views the trace, which outlives it. `reading`, of the same trace, may be null and is not needed
/// any more afterwards. O(start blocks + acts log acts), and O(events) where sizes are scaled.
Program program_of(const Trace& trace, const Reading* reading, const ProgramOptions& options = {});

/// A subject's program as its verification reads it.
Program program_of(const Subject& subject, const ProgramOptions& options = {});

/// Lets `program` view the first `end` events of a trace that is left in its file, and gives it the
/// feed that reads them. A column has addresses for all of its events, and memory for those around
/// the one that is played: some blocks of the file. A thread of its own, where there is one to be
/// had, reads a block ahead. Throws std::runtime_error where there are no such addresses. `trace`
/// outlives the program.
void view_streamed(const Trace& trace, std::uint64_t end, Program& program);

}  // namespace memreplay
