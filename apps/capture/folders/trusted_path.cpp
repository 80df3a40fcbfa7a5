#include "folders/trusted_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <system_error>

#include "core/uninterrupted.hpp"

namespace memreplay {
namespace {

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
        if (++links_ > kMostLinks) return at_.string() + " is a link without an end";
        std::error_code ignored;
        add(fs::read_symlink(at_, ignored));
      } else if (!S_ISDIR(is.st_mode)) {
        return at_.string() + " is no folder";
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

}  // namespace

std::string why_untrusted(const fs::path& folder) { return Walk(folder).why_untrusted(); }

std::string why_not_own(const fs::path& folder) {
  struct stat is {};
  if (::lstat(folder.c_str(), &is) != 0) {
    return fmt::format("{}: {}", folder.string(), std::strerror(errno));
  }
  if (!S_ISDIR(is.st_mode)) return folder.string() + " is no folder";
  if (is.st_uid != ::geteuid()) {
    return fmt::format("{} belongs to user {}", folder.string(), is.st_uid);
  }
  return others_can_write(is) ? folder.string() + " can be written by others" : "";
}

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

}  // namespace memreplay
