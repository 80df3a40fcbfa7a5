#include "spool/system.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace memreplay::capture {
namespace {

/// Goes through the variables of this process as they were when it began.
class FirstVariables {
 public:
  FirstVariables() : file_(open_file("/proc/self/environ", O_RDONLY | O_CLOEXEC)) {}
  ~FirstVariables() {
    if (file_ >= 0) close_file(file_);
  }

  int next() {
    if (at_ == filled_) {
      filled_ = file_ < 0 ? 0 : syscall(SYS_read, file_, buffer_, sizeof buffer_);
      at_ = 0;
      if (filled_ <= 0) return filled_ = 0, -1;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }

 private:
  int file_;
  long filled_ = 0;
  long at_ = 0;
  char buffer_[1024];
};

bool find_first_variable(const char* name, char* value, std::size_t room) {
  FirstVariables variables;
  for (int letter = variables.next(); letter >= 0; letter = variables.next()) {
    const char* expected = name;
    while (letter > 0 && letter == *expected) {
      ++expected;
      letter = variables.next();
    }
    const bool found = letter == '=' && *expected == '\0';
    std::size_t length = 0;
    while (letter > 0) {
      letter = variables.next();
      if (length < room) value[length++] = letter > 0 ? static_cast<char>(letter) : '\0';
    }
    if (found) return length > 0 && value[length - 1] == '\0';
  }
  return false;
}

const char* name_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "no space left on the device";
    case EACCES:
    case EPERM:
      return "permission denied";
    case ENOENT:
      return "no such folder";
    case ENAMETOOLONG:
      return "the path is too long";
    case EROFS:
      return "the file system is read-only";
    case EFBIG:
      return "above the limit of a file's size";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENOMEM:
      return "no memory";
    default:
      return "the system refuses";
  }
}

}  // namespace

int open_file(const char* path, int flags) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, 0666));
}

void close_file(int file) { syscall(SYS_close, file); }

bool write_at(int file, const void* bytes, std::size_t count, std::uint64_t at) {
  return syscall(SYS_pwrite64, file, bytes, count, at) == static_cast<long>(count);
}

std::size_t read_file(const char* path, char* bytes, std::size_t room) {
  const int file = open_file(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const long read = syscall(SYS_read, file, bytes, room);
  close_file(file);
  return read < 0 ? 0 : static_cast<std::size_t>(read);
}

bool extend_file(int file, std::uint64_t from, std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && from + bytes > limit.rlim_cur) {
    errno = EFBIG;  // the system would end the program
    return false;
  }
  // Written, not promised: the page cache takes large pieces at once, a third of the time.
  static char zeros[kMostExtension];
  return bytes <= sizeof zeros && write_at(file, zeros, bytes, from);
}

bool find_variable(const char* name, char* value, std::size_t room) {
  if (environ == nullptr) return find_first_variable(name, value, room);
  const std::size_t length = std::strlen(name);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, name, length) != 0 || (*variable)[length] != '=') continue;
    const char* found = *variable + length + 1;
    if (std::strlen(found) >= room) return false;
    std::strcpy(value, found);
    return true;
  }
  return false;
}

void make_absolute(char* path, std::size_t room) {
  if (path[0] == '/') return;
  char whole[4096];
  if (syscall(SYS_getcwd, whole, sizeof whole) < 0) return;
  const std::size_t folder = std::strlen(whole);
  if (folder + 1 + std::strlen(path) >= std::min(room, sizeof whole)) return;
  whole[folder] = '/';
  std::strcpy(whole + folder + 1, path);
  std::strcpy(path, whole);
}

void complain(const char* what, const char* path, int error) {
  char line[4600];
  std::snprintf(line, sizeof line, "memreplay: %s: %s: %s; the program goes on unrecorded\n", path,
                what, name_of(error));
  syscall(SYS_write, STDERR_FILENO, line, std::strlen(line));
}

}  // namespace memreplay::capture
