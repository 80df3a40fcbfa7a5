#include "told.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace memreplay::gpu {
namespace {

constexpr std::size_t kRefusalsTold = 16;

struct Workspaces {
  std::size_t times = 0;
  std::size_t largest = 0;
};

struct Told {
  std::mutex mutex;
  std::map<std::string, Workspaces> workspaces;
  std::size_t refusals = 0;
  std::vector<std::pair<std::size_t, std::size_t>> first_refusals;  ///< number, size
};

Told& told() {
  static Told& the_only_one = *new Told;
  return the_only_one;
}

std::atomic<std::size_t> requests = 0;
std::atomic<int> oldest_code = 0;
std::atomic<void (*)(std::size_t)> watcher = nullptr;

std::string as_json() {
  std::string text = "{\"workspaces\":[";
  const auto list = [&](const auto& entries, auto&& add) {
    bool first = true;
    for (const auto& entry : entries) {
      if (!std::exchange(first, false)) text += ',';
      add(entry);
    }
  };
  const std::lock_guard lock(told().mutex);
  list(told().workspaces, [&](const auto& entry) {
    text += "{\"function\":\"" + entry.first +
            "\",\"times\":" + std::to_string(entry.second.times) +
            ",\"largest_bytes\":" + std::to_string(entry.second.largest) + "}";
  });
  text += "],\"oldest_code\":" + std::to_string(oldest_code) +
          ",\"requests\":" + std::to_string(requests) +
          ",\"refusals\":" + std::to_string(told().refusals) + ",\"first_refusals\":[";
  list(told().first_refusals, [&](const auto& refusal) {
    text += "{\"request\":" + std::to_string(refusal.first) +
            ",\"bytes\":" + std::to_string(refusal.second) + "}";
  });
  return text + "]}";
}

}  // namespace

void value_was_read(std::size_t size) {
  if (const auto watch = watcher.load()) watch(size);
}

void workspace_was_modelled(const char* function, std::size_t size) {
  const std::lock_guard lock(told().mutex);
  Workspaces& workspaces = told().workspaces[function];
  ++workspaces.times;
  workspaces.largest = std::max(workspaces.largest, size);
}

void code_was_missing(int architecture) { oldest_code = architecture; }

std::size_t request_was_made() { return ++requests; }

void request_was_refused(std::size_t number, std::size_t size) {
  const std::lock_guard lock(told().mutex);
  ++told().refusals;
  if (told().first_refusals.size() < kRefusalsTold)
    told().first_refusals.emplace_back(number, size);
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

/// Calls `watch` with the number of bytes whenever the program reads what was never computed.
void memreplay_gpu_watch_reads(void (*watch)(std::size_t)) { watcher = watch; }

/// What is to be told, as JSON: its length, and as much of it as `room` bytes hold.
std::size_t memreplay_gpu_told(char* text, std::size_t room) {
  const std::string json = as_json();
  std::memcpy(text, json.data(), std::min(room, json.size()));
  return json.size();
}

}  // extern "C"
#pragma GCC visibility pop
