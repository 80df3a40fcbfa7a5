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

/// Of every spool in a folder, by the time when it begins. Throws InputError for one that cannot be
/// read.
std::vector<SpooledProcess> processes_in(const std::filesystem::path& folder);

}  // namespace memreplay::capture
