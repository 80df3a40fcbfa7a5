#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace memreplay {

struct RecordedProcess;

/// Where processes leave their recordings until the program has ended: a folder beside the target,
/// which is gone with this object.
class RecordingFolder {
 public:
  /// Throws UsageError where nothing can be written beside the target.
  explicit RecordingFolder(const std::string& target);
  ~RecordingFolder();
  RecordingFolder(const RecordingFolder&) = delete;
  RecordingFolder& operator=(const RecordingFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Gives the recordings their names and says what their processes told. A target with {rank} has
  /// the rank there; without it ranks, and processes where there are several, stand before its
  /// ending.
  std::vector<RecordedProcess> collect() const;

 private:
  std::string name_of(const RecordedProcess& process, bool alone) const;

  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace memreplay
