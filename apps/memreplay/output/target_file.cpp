#include "output/target_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <utility>

#include "core/system_calls.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kRights = 0666;  // less what the umask takes

// Files with a name of their own. Threads take turns to change the list; a signal handler that
// comes between finds it whole.
std::atomic<TargetFile*> unfinished{nullptr};
std::mutex changing;

int open_file(const std::string& path, int flags) {
  return uninterrupted([&] { return ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, kRights); });
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string name_beside(const std::string& path) {
  static std::atomic<int> files = 0;
  const fs::path target(path);
  return (target.parent_path() /
          fmt::format(".{}.{}-{}.part", target.filename().string(), getpid(), ++files))
      .string();
}

// By which a file without a name can be given one.
std::string as_process_has_it(int file) { return fmt::format("/proc/self/fd/{}", file); }

}  // namespace

TargetFile::~TargetFile() {
  if (!name_.empty()) {
    unlink(name_.c_str());
    strike_off();
  }
  if (file_ >= 0) ::close(file_);
}

int TargetFile::open(const std::string& target) {
  target_ = target;
  struct stat old {};
  const bool exists = stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return EISDIR;
  direct_ = exists && !S_ISREG(old.st_mode);
  if (direct_) {
    file_ = open_file(target, O_TRUNC);
    return file_ < 0 ? errno : 0;
  }
  if (exists && access(target.c_str(), W_OK) != 0) return errno;
  file_ = open_file(folder_of(target), O_TMPFILE);
  if (file_ >= 0 && access(as_process_has_it(file_).c_str(), F_OK) != 0) {
    ::close(std::exchange(file_, -1));
  }
  if (file_ < 0 && open_beside() < 0) return errno;
  if (exists) fchmod(file_, old.st_mode & 07777);
  return 0;
}

int TargetFile::open_beside() {
  enlist();
  file_ = open_file(name_, O_CREAT | O_EXCL);
  return file_;
}

int TargetFile::finish() {
  if (direct_) return close();
  if (name_.empty() && link_as(target_) == 0) return close();
  if (name_.empty() && errno != EEXIST) return errno;
  if (uninterrupted([&] { return fsync(file_); }) != 0 && errno != EINVAL) return errno;
  if (name_.empty()) {
    enlist();
    if (link_as(name_) != 0) return errno;
  }
  if (std::rename(name_.c_str(), target_.c_str()) != 0) return errno;
  strike_off();
  return close();
}

int TargetFile::link_as(const std::string& name) const {
  return linkat(AT_FDCWD, as_process_has_it(file_).c_str(), AT_FDCWD, name.c_str(),
                AT_SYMLINK_FOLLOW);
}

int TargetFile::close() {
  // One that is interrupted has closed all the same.
  return ::close(std::exchange(file_, -1)) != 0 && errno != EINTR ? errno : 0;
}

void TargetFile::enlist() {
  const std::lock_guard turn(changing);
  name_ = name_beside(target_);
  next_ = unfinished.load();
  unfinished = this;
}

void TargetFile::strike_off() {
  const std::lock_guard turn(changing);
  if (unfinished == this) {
    unfinished = next_;
  } else {
    TargetFile* before = unfinished;
    while (before->next_ != this) before = before->next_;
    before->next_ = next_;
  }
  name_.clear();
}

void remove_unfinished_files() {
  for (const TargetFile* file = unfinished; file != nullptr; file = file->next_) {
    unlink(file->name_.c_str());
  }
}

}  // namespace memreplay
