#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/event_sink.hpp"
#include "trace/trace.hpp"

namespace memreplay::capture {

/// What a spool says of the process that wrote it.
struct SpooledProcess {
  std::string spool;     ///< path
  std::string recorder;  ///< "malloc", "cuda"
  std::uint32_t process = 0;
  bool is_forked = false;  ///< it had the memory of another from the start
  std::vector<std::string> command;
  std::int64_t begun_unix_ns = 0;
};

struct SpooledProcesses {
  std::vector<SpooledProcess> processes;  ///< by the time when they began
  std::vector<std::string> unreadable;    ///< "PATH: why", of spools that are none
};

/// Every spool in a folder is read. Throws InputError where the folder cannot be read.
SpooledProcesses processes_in(const std::filesystem::path& folder);

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
