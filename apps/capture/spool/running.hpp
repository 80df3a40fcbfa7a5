#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace memreplay::capture {

/// A process that may still write into a folder of recordings.
struct RunningProcess {
  std::uint64_t process = 0;
  std::uint64_t own_number = 0;  ///< as it knows itself: in a container another one
  std::string command;           ///< its first word
  std::set<ino_t> spools;        ///< those that it has mapped, its own or what it was forked with
};

/// Processes of this user that were started with the folder in their environment, or have one of
/// its spools mapped: nothing else tells of a daemon. Asks the system about every process.
std::vector<RunningProcess> running_in(const std::filesystem::path& folder);

}  // namespace memreplay::capture
