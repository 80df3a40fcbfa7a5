#include "device/host/system_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "device/real/real_memory.hpp"

namespace memreplay {
namespace {

/// The number after `key` at the beginning of a line, with or without blanks between; the file's
/// first where `key` is empty.
std::optional<Bytes> number_in(const std::string& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t digit = line.find_first_not_of(' ', key.size());
    if (digit == line.npos) continue;
    Bytes number = 0;
    const char* end = line.data() + line.size();
    if (std::from_chars(line.data() + digit, end, number).ec == std::errc{}) return number;
  }
  return std::nullopt;
}

/// Path of this process's group, by /proc/self/cgroup: "4:memory:/a/b", version 2 "0::/a/b".
std::optional<std::string> group_path(const std::string& file, bool second) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t last = line.find(':', first + 1);
    if (last == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, last - first - 1) + ",";
    if (second ? controllers == ",," : controllers.find(",memory,") != controllers.npos) {
      return line.substr(last + 1);
    }
  }
  return std::nullopt;
}

/// Where the group lies below the mount: a mount may begin inside the hierarchy, and inside a
/// container the path may lie outside of it.
std::string below_mount(const std::string& path, const std::string& mounted) {
  if (path.find("..") != path.npos) return "";
  if (mounted == "/") return path;
  return path.starts_with(mounted) ? path.substr(mounted.size()) : "";
}

}  // namespace

SystemMemory::SystemMemory(std::string root) : root_(std::move(root)) {
  const auto kibibytes = number_in(root_ + "/proc/meminfo", "MemTotal:");
  if (!kibibytes) throw DeviceError("host: /proc/meminfo has no MemTotal");
  total_ = *kibibytes * kKiB;
  find_groups();
  for (const Group& group : groups_) total_ = std::min(total_, group.limit);
}

void SystemMemory::find_groups() {
  std::ifstream mounts(root_ + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    // "35 31 0:32 ROOT PLACE rw - cgroup cgroup rw,memory"
    std::istringstream fields(line);
    std::string skipped, mounted, place, type;
    fields >> skipped >> skipped >> skipped >> mounted >> place;
    while (fields >> skipped && skipped != "-") {
    }
    fields >> type;
    if (type != "cgroup" && type != "cgroup2") continue;
    const bool second = type == "cgroup2";
    const auto path = group_path(root_ + "/proc/self/cgroup", second);
    if (!path) continue;
    // A limit holds for all below it.
    const std::string top = root_ + place;
    std::string folder = top + below_mount(*path, mounted);
    while (folder.ends_with('/')) folder.pop_back();
    while (folder.size() > top.size()) {
      add_group(folder, second);
      folder.erase(folder.rfind('/'));
    }
    add_group(top, second);
  }
}

void SystemMemory::add_group(const std::string& folder, bool second) {
  const auto limit = number_in(folder + (second ? "/memory.max" : "/memory.limit_in_bytes"), "");
  if (limit && *limit < total_) groups_.push_back({folder, second, *limit});
}

Bytes SystemMemory::available() const {
  Bytes least = number_in(root_ + "/proc/meminfo", "MemAvailable:").value_or(0) * kKiB;
  for (const Group& group : groups_) {
    const auto used =
        number_in(group.folder + (group.second ? "/memory.current" : "/memory.usage_in_bytes"), "");
    // Cached files count as used, and go when there is need.
    const auto cached = number_in(group.folder + "/memory.stat",
                                  group.second ? "inactive_file " : "total_inactive_file ");
    const Bytes taken = used.value_or(0) - std::min(used.value_or(0), cached.value_or(0));
    least = std::min(least, group.limit - std::min(group.limit, taken));
  }
  return least;
}

std::string SystemMemory::processor() const {
  std::ifstream in(root_ + "/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "host";
}

ResidentMemory::ResidentMemory()
    : statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      page_(static_cast<Bytes>(::sysconf(_SC_PAGESIZE))) {
  if (statm_ < 0) throw_system_error("/proc/self/statm");
}

ResidentMemory::~ResidentMemory() { ::close(statm_); }

Bytes ResidentMemory::sample() {
  std::array<char, 128> text;
  const ssize_t size = ::pread(statm_, text.data(), text.size(), 0);
  if (size < 0) throw_system_error("/proc/self/statm");
  // "SIZE RESIDENT ...", in pages.
  const char* end = text.data() + size;
  const char* at = std::find(static_cast<const char*>(text.data()), end, ' ');
  Bytes pages = 0;
  if (at != end) std::from_chars(at + 1, end, pages);
  const Bytes resident = pages * page_;
  for (ResidentGrowth* growth : watching_) growth->peak_ = std::max(growth->peak_, resident);
  return resident;
}

ResidentGrowth::ResidentGrowth(ResidentMemory& memory) : memory_(&memory) {
  memory.watching_.push_back(this);
  begin();
}

ResidentGrowth::~ResidentGrowth() { std::erase(memory_->watching_, this); }

void ResidentGrowth::begin() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
  base_ = memory_->sample();
  peak_ = base_;
}

}  // namespace memreplay
