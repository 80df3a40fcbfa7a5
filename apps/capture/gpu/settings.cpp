#include "settings.hpp"

#include <cstdlib>
#include <string_view>

namespace memreplay::gpu {
namespace {

constexpr int kMostDevices = 16;

std::uint64_t whole(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

void set(Settings& settings, const std::string& key, const std::string& value) {
  const auto second = [&] { return value.substr(value.find_first_of(".:") + 1); };
  if (key == "name") settings.name = value;
  if (key == "total") settings.total = whole(value);
  if (key == "context") settings.context = whole(value);
  if (key == "multiprocessors") settings.multiprocessors = static_cast<int>(whole(value));
  if (key == "count") settings.count = static_cast<int>(whole(value));
  if (key == "addresses" && value == "upward") settings.order = AddressPolicy::first_fit;
  if (key == "lag") settings.lag = whole(value);
  if (key == "seed") settings.seed = whole(value);
  if (key == "fill") {
    settings.fill = value == "nan" ? Fill::nan : value == "random" ? Fill::random : Fill::zeros;
  }
  if (key == "sm") {
    settings.major = static_cast<int>(whole(value));
    settings.minor = static_cast<int>(whole(second()));
  }
  if (key == "oom-at") settings.refusals.at = whole(value);
  if (key == "oom-size") settings.refusals.size = whole(value);
  if (key == "oom-random") {
    settings.refusals.random_seed = whole(value);
    settings.refusals.rate = std::strtod(second().c_str(), nullptr);
  }
}

/// As many devices as this machine has processes of the program, as launchers tell them.
int processes_here() {
  const char* given = std::getenv("LOCAL_WORLD_SIZE");
  const int processes = given ? std::atoi(given) : 1;
  return processes < 1 ? 1 : processes > kMostDevices ? kMostDevices : processes;
}

Settings read() {
  Settings settings;
  settings.count = processes_here();
  const char* given = std::getenv("MEMREPLAY_VIRTUAL_GPU");
  std::string_view rest = given ? given : "";
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(';'));
    rest.remove_prefix(entry.size() < rest.size() ? entry.size() + 1 : rest.size());
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) continue;
    set(settings, std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)));
  }
  return settings;
}

}  // namespace

const Settings& settings() {
  static const Settings read_once = read();
  return read_once;
}

}  // namespace memreplay::gpu
