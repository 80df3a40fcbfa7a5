#include "line/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/system_calls.hpp"
#include "core/text.hpp"
#include "line/terminal.hpp"
#include "report/parts/text_style.hpp"
#include "trace/json/json_node.hpp"

namespace memreplay {
namespace {

namespace fs = std::filesystem;

std::string number_of(const struct stat& file) {
  return fmt::format("{}:{}", file.st_dev, file.st_ino);
}

/// One text for all names of a file; empty for what has no content to lose.
std::string identity(const std::string& path, int standard) {
  struct stat file {};
  if (path == "-") {
    return fstat(standard, &file) == 0 && S_ISREG(file.st_mode) ? number_of(file) : "";
  }
  std::error_code ignored;
  if (stat(path.c_str(), &file) != 0) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored).string();
  }
  if (S_ISREG(file.st_mode)) return number_of(file);
  return S_ISCHR(file.st_mode) ? "" : fs::absolute(path, ignored).lexically_normal().string();
}

std::string shown(const std::string& what, const std::string& path, const char* dash) {
  return path == "-" && what.front() != '-' ? dash : fmt::format("{} {}", what, path);
}

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

// A file without a name can be given one by this.
std::string as_process_has_it(int file) { return fmt::format("/proc/self/fd/{}", file); }

std::optional<std::string> content_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::status(path, ignored))) return std::nullopt;
  return text_of_file(path);
}

/// Opens the folder of a file, which is locked as the file itself is replaced. File systems that
/// lock no folders (NFS) leave the moment between comparing and replacing unguarded.
int open_folder_of(const std::string& path) {
  std::error_code ignored;
  const auto folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored).parent_path();
  return uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

/// False where a write to standard output has no reader; throws where it failed otherwise.
bool has_reader(int error) {
  if (error == EPIPE || error == EBADF) return false;
  throw UsageError(fmt::format("standard output: {}", std::strerror(error)));
}

}  // namespace

FileBuffer::int_type FileBuffer::overflow(int_type c) {
  sync();
  return traits_type::eq_int_type(c, traits_type::eof()) ? traits_type::not_eof(c)
                                                         : sputc(traits_type::to_char_type(c));
}

int FileBuffer::sync() {
  const std::string_view waiting(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(room_.data(), room_.data() + room_.size());
  if (!write_all(file_, waiting)) fail(errno);
  return 0;
}

void FileBuffer::fail(int error) const {
  if (file_ == STDOUT_FILENO && !has_reader(error)) throw ClosedOutput();
  throw UsageError(fmt::format("{}: cannot write: {}", path_, std::strerror(error)));
}

OutputFile::OutputFile(const OutputPath& path)
    : buffer_(path.text()), for_host_(path.is_stdout() && command_host() != nullptr) {
  path.claim();
  stream_.exceptions(std::ios::badbit);
  if (path.is_stdout()) {
    buffer_.write_to(STDOUT_FILENO);
    return;
  }
  if (const int error = file_.open(followed(path.text()))) buffer_.fail(error);
  buffer_.write_to(file_.number());
}

std::ostream& OutputFile::stream() { return for_host_ ? command_host()->output() : stream_; }

void OutputFile::commit() {
  stream_.flush();
  if (file_.number() < 0) return;  // standard output
  if (const int error = file_.finish()) buffer_.fail(error);
}

void OutputFile::write(const std::function<void(std::ostream&)>& content) {
  try {
    content(stream());
    commit();
  } catch (const ClosedOutput&) {
  }
}

bool write_stdout(std::string_view text, const TextStyle& style) {
  const std::string said = terminal_text(text, style);
  if (command_host() != nullptr) {
    command_host()->output() << said;
    return true;
  }
  return write_all(STDOUT_FILENO, said) || has_reader(errno);
}

void tell_written(const OutputPath& path, std::string_view what) {
  if (path.is_stdout() || command_host() != nullptr) return;
  std::error_code none;  // a pipe has no size
  const std::uintmax_t bytes = fs::file_size(path.text(), none);
  write_stdout(fmt::format(" Wrote {}: {}{}.\n", path.text(), what,
                           none ? "" : fmt::format(", {}", human_size(bytes))),
               terminal_style());
}

void write_stderr(std::string_view message) {
  if (command_host() != nullptr) return command_host()->note(message);
  std::cerr << terminal_line(fmt::format("memreplay: {}", message), stderr_style()) + '\n';
}

void CommandFiles::reads(const std::string& what, const std::string& path) {
  struct stat file {};
  if (path != "-" && stat(path.c_str(), &file) != 0) return;  // nothing there to be lost
  read_.push_back({what, path, identity(path, STDIN_FILENO)});
}

void CommandFiles::writes(const std::string& option, const std::string& path) {
  const std::string written = identity(path, STDOUT_FILENO);
  if (written.empty()) return;
  const std::string self = shown(option, path, "standard output");
  for (const Use& input : read_) {
    if (input.identity != written || input.what == option) continue;
    throw UsageError(fmt::format("{}: the same file as {}; no output replaces an input", self,
                                 shown(input.what, input.path, "standard input")));
  }
  if (path == "-") return;
  const auto [other, first] = written_.try_emplace(written, Use{option, path, written});
  if (first || (other->second.what == option && other->second.path == path)) return;
  throw UsageError(fmt::format("{}: the same file as {} {}; expected a file for each output", self,
                               other->second.what, other->second.path));
}

OutputPath::OutputPath(std::string option, std::string path, std::shared_ptr<CommandFiles> files)
    : option_(std::move(option)), path_(std::move(path)), files_(std::move(files)) {}

void OutputPath::require_page() const {
  if (empty() || is_stdout() || path_.ends_with(".html")) return;
  throw UsageError(fmt::format("-o is '{}'; expected NAME.html, or - for standard output", path_));
}

OutputPath OutputPath::of_run(std::size_t number) const {
  OutputPath out = *this;
  for (std::size_t at = 0; (at = out.path_.find("{n}", at)) != std::string::npos;) {
    out.path_.replace(at, 3, std::to_string(number));
  }
  return out;
}

void OutputPath::claim() const {
  if (files_) files_->writes(option_, path_);
}

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

RevisedFile::RevisedFile(const OutputPath& path)
    : path_(path.text()), text_(content_of(path_)), file_(path) {}

bool RevisedFile::replace(std::string_view text) {
  const FileLock lock(open_folder_of(path_));
  std::error_code ignored;
  const bool is_kept = std::filesystem::is_regular_file(path_, ignored) || !text_;
  if (is_kept) {
    std::optional<std::string> now = content_of(path_);
    if (now != text_) {
      text_ = std::move(now);
      return false;
    }
  }
  file_.stream() << text;
  file_.commit();
  return true;
}

}  // namespace memreplay
