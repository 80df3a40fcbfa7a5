#pragma once

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.hpp"

namespace memreplay {

/// The result of a system call, which is made again for as long as signals interrupt it.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Where a file of this name is: links are followed. Throws UsageError where one leads nowhere.
inline std::string followed(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  if (std::filesystem::exists(path, ignored)) return std::filesystem::canonical(path).string();
  throw UsageError(path + ": a link to what is not there; expected a file, or a link to one");
}

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

/// Writes all of it to an open file. False where that fails; errno says why.
inline bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        uninterrupted([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace memreplay
