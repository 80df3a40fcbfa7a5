#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

}  // namespace memreplay::capture
