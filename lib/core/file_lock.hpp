#pragma once

#include <sys/file.h>
#include <unistd.h>

#include "core/uninterrupted.hpp"

namespace memreplay {

/// Locks an open file or folder against others that do the same, and closes it at the end.
class FileLock {
 public:
  /// Waits for the lock. Takes over a descriptor, which may be -1.
  explicit FileLock(int file)
      : file_(file),
        is_held_(file_ >= 0 && uninterrupted([this] { return ::flock(file_, LOCK_EX); }) == 0) {}
  ~FileLock() {
    if (file_ >= 0) ::close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  /// False where the file system locks nothing.
  bool is_held() const { return is_held_; }

 private:
  int file_;
  bool is_held_;
};

}  // namespace memreplay
