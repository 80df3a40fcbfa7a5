#include "folders/cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "core/error.hpp"
#include "core/system_calls.hpp"

namespace memreplay {
namespace {

/// Why somebody other than this user and root could change which folder a path names: "/tmp/a
/// belongs to user 33". Every folder on the way is looked at, and every link; what is not there yet
/// is not. Empty where nobody could.
std::string why_untrusted(const std::filesystem::path& folder);

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;

/// A group with the number of this user is taken for the user's own.
bool others_can_write(const struct stat& is) {
  return (is.st_mode & S_IWOTH) != 0 || ((is.st_mode & S_IWGRP) != 0 && is.st_gid != ::geteuid());
}

std::string why_owner_untrusted(const fs::path& path, const struct stat& is) {
  if (is.st_uid == 0 || is.st_uid == ::geteuid()) return "";
  return fmt::format("{} belongs to user {}", path.string(), is.st_uid);
}

/// Goes along a path as the system does.
class Walk {
 public:
  explicit Walk(const fs::path& folder) { add(fs::absolute(folder)); }

  std::string why_untrusted() {
    for (;;) {
      struct stat is {};
      if (::lstat(at_.c_str(), &is) != 0) {
        return errno == ENOENT ? "" : fmt::format("{}: {}", at_.string(), std::strerror(errno));
      }
      if (const std::string why = why_owner_untrusted(at_, is); !why.empty()) return why;
      if (S_ISLNK(is.st_mode)) {
        if (++links_ > kMostLinks) return at_.string() + " is a link that leads to itself";
        std::error_code ignored;
        add(fs::read_symlink(at_, ignored));
      } else if (!S_ISDIR(is.st_mode)) {
        return at_.string() + " is not a folder";
      } else if (others_can_write(is) && (is.st_mode & S_ISVTX) == 0) {
        return at_.string() + " can be written by others";
      } else {
        folder_ = at_;
      }
      if (rest_.empty()) return "";
      at_ = folder_ / rest_.front();
      rest_.pop_front();
    }
  }

 private:
  /// The target of a link begins at its folder.
  void add(const fs::path& path) {
    const fs::path steps = path.relative_path();
    rest_.insert(rest_.begin(), steps.begin(), steps.end());
    if (path.is_absolute()) folder_ = at_ = "/";
  }

  fs::path folder_ = "/";
  fs::path at_ = "/";
  std::deque<fs::path> rest_;
  int links_ = 0;
};

bool reads_as(int file, std::string_view content) {
  std::array<char, 1 << 16> part{};
  while (true) {
    const ssize_t size = uninterrupted([&] { return ::read(file, part.data(), part.size()); });
    if (size <= 0) return size == 0 && content.empty();
    const auto count = static_cast<std::size_t>(size);
    if (content.substr(0, count) != std::string_view(part.data(), count)) return false;
    content.remove_prefix(count);
  }
}

std::string why_untrusted(const fs::path& folder) { return Walk(folder).why_untrusted(); }

/// Why a folder is not this user's alone to write to, or is none; empty where it is. Links are not
/// followed.
std::string why_not_own(const fs::path& folder) {
  struct stat is {};
  if (::lstat(folder.c_str(), &is) != 0) {
    return fmt::format("{}: {}", folder.string(), std::strerror(errno));
  }
  if (!S_ISDIR(is.st_mode)) return folder.string() + " is not a folder";
  if (is.st_uid != ::geteuid()) {
    return fmt::format("{} belongs to user {}", folder.string(), is.st_uid);
  }
  return others_can_write(is) ? folder.string() + " can be written by others" : "";
}

/// A regular file of this user, which nobody else can write to, with this content. Links are not
/// followed.
bool holds(const fs::path& path, std::string_view content) {
  const int file = uninterrupted(
      [&] { return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); });
  if (file < 0) return false;
  struct stat is {};
  const bool is_own = ::fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_uid == ::geteuid() &&
                      !others_can_write(is);
  const bool same = is_own && reads_as(file, content);
  ::close(file);
  return same;
}

namespace fs = std::filesystem;

constexpr mode_t kOwn = 0700;

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw InputError(path.string(), "", "cannot be written: " + why);
}

std::vector<fs::path> usual_places() {
  const auto folder_in = [](const char* variable) -> const char* {
    const char* const value = std::getenv(variable);
    return value && *value == '/' ? value : nullptr;
  };
  std::vector<fs::path> places;
  std::error_code ignored;
  if (const char* const cache = folder_in("XDG_CACHE_HOME")) {
    places.push_back(fs::path(cache) / "memreplay");
  } else if (const char* const home = folder_in("HOME"); home && fs::is_directory(home, ignored)) {
    places.push_back(fs::path(home) / ".cache" / "memreplay");
  }
  const fs::path temporary = fs::temp_directory_path(ignored);
  places.push_back((temporary.empty() ? "/tmp" : temporary) /
                   ("memreplay-" + std::to_string(::geteuid())));
  return places;
}

/// Why programs could not load files of a folder; empty where they can.
std::string why_not_loadable(const fs::path& folder) {
  if (folder.string().find_first_of(" \t\n:;$") != std::string::npos) {
    return folder.string() + " has a space, a colon or a $, where LD_PRELOAD would end it";
  }
  struct statvfs system {};
  if (::statvfs(folder.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0) {
    return folder.string() + " is on a file system whose programs are not run (noexec)";
  }
  return "";
}

/// Others may make them at the same time.
bool make_folders(const fs::path& folder) {
  const auto is_there = [&] { return ::mkdir(folder.c_str(), kOwn) == 0 || errno == EEXIST; };
  if (is_there()) return true;
  if (errno != ENOENT || !folder.has_relative_path()) return false;
  return make_folders(folder.parent_path()) && is_there();
}

/// Why a place cannot be the cache; empty where it can, and is there.
std::string why_not(const fs::path& place) {
  if (std::string why = why_not_loadable(place); !why.empty()) return why;
  if (std::string why = why_untrusted(place); !why.empty()) return why;
  if (!make_folders(place)) return fmt::format("{}: {}", place.string(), std::strerror(errno));
  if (std::string why = why_untrusted(place); !why.empty()) return why;
  if (std::string why = why_not_own(place); !why.empty()) return why;
  if (::access(place.c_str(), W_OK) != 0) {
    return fmt::format("{}: {}", place.string(), std::strerror(errno));
  }
  return why_not_loadable(place);
}

/// Empty where none can be made.
fs::path fresh_folder() {
  std::error_code ignored;
  const std::vector<fs::path> parents = {fs::temp_directory_path(ignored), "/tmp", "/var/tmp",
                                         "/dev/shm"};
  // One that others could rename is better than none: it is this run's alone.
  for (const bool is_trusted : {true, false}) {
    for (const fs::path& parent : parents) {
      if (parent.empty() || !why_not_loadable(parent).empty()) continue;
      if (is_trusted && !why_untrusted(parent).empty()) continue;
      std::string name = (parent / "memreplay-XXXXXX").string();
      if (::mkdtemp(name.data()) != nullptr) return name;
    }
  }
  return {};
}

/// Held while files are made.
int lock_file(const fs::path& cache) {
  constexpr mode_t kOwnFile = 0600;
  return ::open((cache / "lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kOwnFile);
}

/// Appears when it is complete; programs that have the old one loaded keep it.
void replace(const fs::path& path, const std::string& content) {
  std::error_code ignored;
  if (fs::is_directory(fs::symlink_status(path, ignored))) fs::remove_all(path, ignored);
  std::string fresh = (path.parent_path() / ("." + path.filename().string() + ".XXXXXX")).string();
  const int file = ::mkstemp(fresh.data());
  if (file < 0) fail(path, std::strerror(errno));
  const bool is_written = write_all(file, content);
  const int error = errno;
  if (::close(file) == 0 && is_written && std::rename(fresh.c_str(), path.c_str()) == 0) return;
  const std::string why = std::strerror(is_written ? errno : error);
  fs::remove(fresh, ignored);
  fail(path, why);
}

/// Half-made files are removed only where their processes are gone.
void remove_others(const fs::path& folder, const std::vector<CachedFile>& files, bool is_locked) {
  std::vector<fs::path> others;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool is_known = std::ranges::find(files, name, &CachedFile::name) != files.end();
    if (!is_known && (is_locked || name.front() != '.')) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove_all(other, ignored);
}

}  // namespace

Cache::Cache() : Cache(usual_places()) {}

Cache::Cache(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    const std::string why = why_not(place);
    if (why.empty()) {
      path_ = place;
      note_.clear();
      return;
    }
    if (note_.empty()) note_ = why;
  }
  path_ = fresh_folder();
  if (path_.empty()) throw InputError("the cache", "", note_ + "; expected a folder of your own");
  is_fresh_ = true;
  note_ = fmt::format("not cached: {}; a fresh folder is used instead, {}", note_, path_.string());
}

Cache::~Cache() {
  std::error_code ignored;
  if (is_fresh_) fs::remove_all(path_, ignored);
}

std::optional<fs::path> Cache::leave() {
  if (!is_fresh_) return std::nullopt;
  is_fresh_ = false;
  return path_;
}

fs::path Cache::folder_with(const std::string& name, const std::vector<CachedFile>& files) const {
  const fs::path folder = path_ / name;
  const FileLock lock(lock_file(path_));
  std::error_code error;
  if (!why_not_own(folder).empty()) fs::remove_all(folder, error);
  if (::mkdir(folder.c_str(), kOwn) != 0 && errno != EEXIST) fail(folder, std::strerror(errno));
  if (const std::string why = why_not_own(folder); !why.empty()) fail(folder, why);
  remove_others(folder, files, lock.is_held());
  for (const CachedFile& file : files) {
    if (!holds(folder / file.name, file.content)) replace(folder / file.name, file.content);
  }
  return folder;
}

}  // namespace memreplay
