#include "spool/processes.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "spool/spool_file.hpp"

namespace memreplay::capture {
namespace {

/// Arguments, a 0 behind each.
std::vector<std::string> arguments(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty() && text.front() != '\0') {
    const std::size_t end = std::min(text.find('\0'), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

SpooledProcess about(const std::string& path) {
  const SpoolFile spool(path);
  const SpoolHead& head = spool.head();
  return {.spool = path,
          .recorder = head.recorder,
          .process = head.process,
          .is_forked = head.forked_from[0] != '\0',
          .command = arguments({head.command, sizeof head.command}),
          .begun_unix_ns = head.begun_unix_ns};
}

}  // namespace

std::vector<SpooledProcess> processes_in(const std::filesystem::path& folder) {
  std::vector<SpooledProcess> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == kSpoolSuffix) all.push_back(about(entry.path().string()));
  }
  std::ranges::sort(
      all, {}, [](const SpooledProcess& one) { return std::tie(one.begun_unix_ns, one.spool); });
  return all;
}

}  // namespace memreplay::capture
