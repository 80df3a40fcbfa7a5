#include "spool/processes.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <tuple>

#include "core/error.hpp"
#include "spool/spool_file.hpp"

namespace memreplay::capture {
namespace {

/// Arguments, each ends in a 0.
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

SpooledProcesses processes_in(const std::filesystem::path& folder) {
  SpooledProcesses found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != kSpoolSuffix) continue;
    try {
      found.processes.push_back(about(entry.path().string()));
    } catch (const InputError& error) {
      found.unreadable.emplace_back(error.what());
    }
  }
  if (error) throw InputError(folder.string(), "", "cannot be read: " + error.message());
  std::ranges::sort(found.processes, {}, [](const SpooledProcess& one) {
    return std::tie(one.begun_unix_ns, one.spool);
  });
  std::ranges::sort(found.unreadable);
  return found;
}

}  // namespace memreplay::capture
