#pragma once

#include <cstdint>

#include "spool/processes.hpp"
#include "trace/event_sink.hpp"
#include "trace/trace.hpp"

namespace memreplay::capture {

/// What a recorded process did, for people.
struct SpoolSummary {
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t refused = 0;        ///< requests that got nothing
  std::uint64_t unknown_frees = 0;  ///< frees of blocks from before the recording
  std::uint64_t inherited = 0;      ///< blocks from before the fork
  std::uint64_t live_blocks = 0;    ///< at the end
  Bytes live_bytes = 0;
  std::uint64_t peak_bytes = 0;        ///< most live at once, as requested
  std::uint64_t missing = 0;           ///< calls under way when the process was killed
  std::uint64_t unrecorded_forks = 0;  ///< processes forked from this one, without a recording
  int stopped_by = 0;  ///< the system's error that ended the recording early; 0: none
};

/// Hands the events of a process on as they are read: memory is that of its live blocks. The blocks
/// that a forked process had from the start are told by the spool of the other one, beside its own.
/// Throws InputError.
SpoolSummary stream_recording(const SpooledProcess& process, EventSink& sink);

/// Reads it with all events in its traces.
Recording read_recording(const SpooledProcess& process, SpoolSummary& summary);

/// What is said about a process's recording, without traces.
Recording recording_of(const SpooledProcess& process);

}  // namespace memreplay::capture
