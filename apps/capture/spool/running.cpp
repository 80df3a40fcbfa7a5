#include "spool/running.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "spool/spool_format.hpp"

namespace memreplay::capture {
namespace {

namespace fs = std::filesystem;

/// Calls `use` with every line; with none where it may not be read, or the process has ended.
template <typename Use>
void for_each_line(const fs::path& file, Use use, char end = '\n') {
  std::ifstream stream(file, std::ios::binary);
  for (std::string line; std::getline(stream, line, end);) use(line);
}

bool has_in_environment(const fs::path& process, const std::string& folder) {
  bool has = false;
  const auto look = [&](const std::string& variable) {
    has = has || variable == "MEMREPLAY_SPOOL=" + folder ||
          (variable.starts_with("MEMREPLAY_RECORD=") && variable.find(folder) != variable.npos);
  };
  for_each_line(process / "environ", look, '\0');
  return has;
}

/// A line is "from-to rights offset device inode path".
std::set<ino_t> mapped_spools(const fs::path& process, const fs::path& folder) {
  std::set<ino_t> found;
  for_each_line(process / "maps", [&](const std::string& line) {
    if (!line.ends_with(kSpoolSuffix)) return;
    struct stat file {};
    if (::stat((folder / line.substr(line.rfind('/') + 1)).c_str(), &file) != 0) return;
    if (line.find(fmt::format(" {} ", file.st_ino)) != line.npos) found.insert(file.st_ino);
  });
  return found;
}

/// The last number of "NSpid:\t4711\t1"; `number` where there is none.
std::uint64_t own_number(const fs::path& process, std::uint64_t number) {
  for_each_line(process / "status", [&](const std::string& line) {
    if (line.starts_with("NSpid:")) number = std::stoull(line.substr(line.rfind('\t')));
  });
  return number;
}

std::string first_word(const fs::path& process) {
  std::string word;
  std::ifstream stream(process / "cmdline", std::ios::binary);
  std::getline(stream, word, '\0');
  return word;
}

}  // namespace

std::vector<RunningProcess> running_in(const fs::path& folder) {
  std::vector<RunningProcess> all;
  std::error_code error;
  const std::string place = fs::weakly_canonical(folder, error).string();
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ptr != name.data() + name.size() || number == std::uint64_t(::getpid())) continue;
    std::set<ino_t> spools = mapped_spools(entry.path(), folder);
    if (spools.empty() && !has_in_environment(entry.path(), place)) continue;
    all.push_back(
        {number, own_number(entry.path(), number), first_word(entry.path()), std::move(spools)});
  }
  return all;
}

}  // namespace memreplay::capture
