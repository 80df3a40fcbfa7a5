#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "record/recording_folder.hpp"
#include "spool/recording.hpp"

namespace memreplay {

class Cache;

/// Which calls of any program are recorded.
struct RecordedCalls {
  bool malloc = false;
  bool cuda = false;

  bool any() const { return malloc || cuda; }
};

/// What one process asked of malloc or of CUDA.
struct CallRecording {
  std::string path;
  std::string recorder;  ///< "malloc", "cuda"
  std::uint64_t pid = 0;
  std::vector<std::string> command;
  capture::SpoolSummary summary;
  bool is_largest = false;  ///< its recorder's largest: it has the name that was asked for
};

/// What the processes of a program asked for, as far as it could be written.
struct CallRecordings {
  std::vector<CallRecording> all;
  /// Why a process has no recording, for each such process. Its spool stays.
  std::vector<std::string> failed;
};

/// Throws UsageError where calls cannot be written to a file of this name.
void expect_calls_in(const std::string& target);

/// What a program is started with, so that its calls are left in `folder`.
std::map<std::string, std::string> environment_for(RecordedCalls calls, const Cache& cache,
                                                   const std::filesystem::path& folder);

/// Writes a recording of each process whose spool is in `spools`: the first one has the name
/// `target`, further ones their process before its ending. They are made in `folder`. One that
/// fails does not hide the others.
CallRecordings call_recordings(const std::filesystem::path& spools, const RecordingFolder& folder,
                               const std::string& target);

}  // namespace memreplay
