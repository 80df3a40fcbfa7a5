#include "output/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "core/error.hpp"
#include "output/terminal.hpp"
#include "report/parts/terminal_text.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

// Streams keep no reason; where an earlier write failed, errno still tells it.
std::string reason(int error) {
  return error == 0 ? std::string("a write failed") : std::string(std::strerror(error));
}

void flush_stdout() {
  if (std::cout) {
    errno = 0;
    std::cout.flush();
  }
  if (std::cout) return;
  if (errno == EPIPE || errno == EBADF) throw ClosedOutput();
  throw UsageError(fmt::format("standard output: {}", reason(errno)));
}

// Creates the file with the rights of the one that it will replace.
int create(const std::string& temporary, const std::string& target) {
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  struct stat old {};
  if (fd >= 0 && stat(target.c_str(), &old) == 0) fchmod(fd, old.st_mode & 07777);
  return fd;
}

}  // namespace

OutputFile::OutputFile(const OutputPath& path) : path_(path.text()) {
  path.claim();
  if (path_ == "-") return;
  std::error_code ignored;
  target_ = fs::is_symlink(path_, ignored) ? fs::weakly_canonical(path_, ignored).string() : path_;
  if (target_.empty()) target_ = path_;
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::is_directory(status)) fail(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_.open(target_, std::ios::binary);
    if (!file_) fail(errno);
    return;
  }
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) fail(errno);
  const fs::path name(target_);
  static int files = 0;
  temporary_ = (name.parent_path() /
                fmt::format(".{}.{}-{}.part", name.filename().string(), getpid(), ++files))
                   .string();
  const int fd = create(temporary_, target_);
  if (fd < 0) {
    temporary_.clear();
    fail(errno);
  }
  close(fd);
  file_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!file_) fail(errno);
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

std::ostream& OutputFile::stream() {
  if (path_ == "-") return std::cout;
  return file_;
}

void OutputFile::commit() {
  if (path_ == "-") return flush_stdout();
  if (file_) errno = 0;
  file_.close();
  if (!file_) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void OutputFile::fail(int error) const {
  throw UsageError(fmt::format("{}: cannot write: {}", path_, reason(error)));
}

void write_stdout(std::string_view text, const TextStyle& style) {
  std::cout << terminal_text(text, style);
  flush_stdout();
}

void write_stderr(std::string_view message) {
  std::cerr << terminal_text(fmt::format("memreplay: {}\n", message), stderr_style());
}

}  // namespace memreplay
