#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace memreplay {

struct RecordedProcess;

/// Gives a recording its name: through links, and never in the place of what is no file.
std::error_code move_recording(const std::filesystem::path& from, std::filesystem::path to);

/// "run-rank3.pickle" of "run.pickle": the mark stands before the ending.
std::string with_mark(const std::string& path, const std::string& mark);

/// Where processes leave their recordings until the program has ended: a folder beside the target.
/// It is gone with this object where it is empty or `done`: what was recorded stays until its
/// answer stands, and the folder for whoever still writes.
class RecordingFolder {
 public:
  using LiesIn = std::function<void(const std::string& folder)>;

  /// Tells `lies_in`, where that is set, its path, and "" as it goes. Throws UsageError where the
  /// target cannot be written.
  explicit RecordingFolder(const std::string& target, LiesIn lies_in = {});
  ~RecordingFolder();
  RecordingFolder(const RecordingFolder&) = delete;
  RecordingFolder& operator=(const RecordingFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Everything in it stands elsewhere.
  void done() { is_done_ = true; }
  void keep() { is_kept_ = true; }

  /// Gives the recordings their names and says what their processes told. A target with {rank} has
  /// the rank there; without it ranks, and processes where there are several, stand before its
  /// ending. Throws InputError where one cannot be moved.
  std::vector<RecordedProcess> collect();

 private:
  std::string name_of(const RecordedProcess& process, bool alone) const;

  std::filesystem::path target_;
  std::filesystem::path path_;
  LiesIn lies_in_;
  bool is_done_ = false;
  bool is_kept_ = false;
};

/// What a recorded process told at its end (python/sitecustomize.py). Throws InputError.
RecordedProcess told_in(const std::filesystem::path& file);

}  // namespace memreplay
