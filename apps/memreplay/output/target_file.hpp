#pragma once

#include <string>

namespace memreplay {

/// A file that takes its place when it is complete. Until then it has no name (O_TMPFILE), so that
/// nothing of it stays, however the program ends; where the file system needs one it stands beside
/// the target, and `remove_unfinished_files` takes it away. What is no ordinary file (a pipe,
/// /dev/null) is written to directly. Functions give the errno of what failed, 0 where all is well.
class TargetFile {
 public:
  TargetFile() = default;
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  /// The file will have the rights of the one that it replaces.
  int open(const std::string& target);
  int number() const { return file_; }
  /// Closes it under the target's name. What stood there is given up only for what is on the disk.
  int finish();

 private:
  friend void remove_unfinished_files();
  int open_beside();
  int link_as(const std::string& name) const;
  void enlist();
  void strike_off();
  int close();

  int file_ = -1;
  bool direct_ = false;
  std::string target_;
  std::string name_;  ///< while it is not complete; empty where it has none
  TargetFile* next_ = nullptr;
};

/// For the end of the program by a signal, or without memory: safe in signal handlers.
void remove_unfinished_files();

}  // namespace memreplay
