#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "machine.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kRefusalsTold = 16;

struct Workspaces {
  std::size_t times = 0;
  std::size_t largest = 0;
};

struct ToldFacts {
  std::mutex mutex;
  std::map<std::string, Workspaces> workspaces;
  std::string cudnn_version;
  std::string why_no_cudnn;
  std::set<std::string> cudnn_graphs;
  std::set<std::string> cudnn_unanswered;
  struct Timed {
    std::int64_t least = 0;
    std::int64_t most = 0;
  };
  std::map<const void*, Timed> timed;  ///< by graph
  std::size_t refusals = 0;
  std::vector<std::pair<std::size_t, std::size_t>> first_refusals;  ///< number, size
};

ToldFacts& told() {
  static ToldFacts& the_only_one = *new ToldFacts;
  return the_only_one;
}

std::atomic<std::size_t> requests = 0;
std::atomic<int> oldest_code = 0;
std::atomic<void (*)(std::size_t)> watcher = nullptr;

std::string quoted(const std::string& text) {
  std::string safe = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return safe + '"';
}

/// The largest of all graphs whose engines were timed.
std::int64_t largest(std::int64_t ToldFacts::Timed::*workspace) {
  std::int64_t most = 0;
  for (const auto& [graph, timed] : told().timed) most = std::max(most, timed.*workspace);
  return most;
}

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
  text += "],\"cudnn\":{\"version\":" + quoted(told().cudnn_version) +
          ",\"graphs\":" + std::to_string(told().cudnn_graphs.size()) +
          ",\"unanswered\":" + std::to_string(told().cudnn_unanswered.size()) +
          ",\"why\":" + quoted(told().why_no_cudnn) +
          ",\"timed\":" + std::to_string(told().timed.size()) +
          ",\"least_bytes\":" + std::to_string(largest(&ToldFacts::Timed::least)) +
          ",\"most_bytes\":" + std::to_string(largest(&ToldFacts::Timed::most)) + "}";
  text += ",\"oldest_code\":" + std::to_string(oldest_code) +
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

void cudnn_was_asked(const std::string& version, const std::string& graph) {
  const std::lock_guard lock(told().mutex);
  told().cudnn_version = version;
  told().cudnn_graphs.insert(graph);
}

void cudnn_was_not_asked(const std::string& why, const std::string& graph) {
  const std::lock_guard lock(told().mutex);
  told().why_no_cudnn = why;
  told().cudnn_unanswered.insert(graph);
}

void engines_were_timed(const void* graph, std::int64_t least, std::int64_t most) {
  const std::lock_guard lock(told().mutex);
  told().timed[graph] = {least, most};
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

// Requests that fail because they were told to, whatever is free and cached. What PyTorch does
// then is all its own: such a request comes from a stream that has nothing cached, and the device
// has no memory for it.
namespace memreplay::gpu {
namespace {

// Beside those that streams.cpp gives, so that the recording is the same each time.
const Stream kNobodysStream = reinterpret_cast<Stream>(0x3f00'0000);  // NOLINT

struct TorchStream {  // c10::cuda::CUDAStream: a device, and a number of the stream on it
  std::uint64_t device;
  std::int64_t id;
};

/// c10::Allocator::allocate, which returns an object in memory of its caller.
using Allocate = void* (*)(void* result, void* allocator, std::size_t size);
using GetCurrentStream = TorchStream (*)(std::int8_t device);
using GetExternalStream = TorchStream (*)(Stream stream, std::int8_t device);
using SetCurrentStream = void (*)(TorchStream stream);

struct Torch {
  Allocate allocate = nullptr;
  GetCurrentStream current = nullptr;
  GetExternalStream external = nullptr;
  SetCurrentStream set_current = nullptr;
};

Torch torch;

/// A well-mixed number of a seed and a position: Steele, Lea, Flood, SplitMix64.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t position) {
  std::uint64_t value = seed + position * 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

bool is_refused(std::size_t number, Bytes size) {
  const Refusals& told = refusals();
  if (number == told.at || (told.size != 0 && size >= told.size)) return true;
  return static_cast<double>(mixed(told.random_seed, number) >> 11) * 0x1p-53 < told.rate;
}

/// While it lives, this thread's device has no memory left, and a stream that never had any.
class Refusal {
 public:
  Refusal() : stream_(torch.current(-1)) {
    torch.set_current(torch.external(kNobodysStream, static_cast<std::int8_t>(current_device())));
    set_refusing(true);
  }
  ~Refusal() {
    set_refusing(false);
    torch.set_current(stream_);
  }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

 private:
  TorchStream stream_;
};

void* allocate_or_refuse(void* result, void* allocator, std::size_t size) {
  if (size == 0) return torch.allocate(result, allocator, size);
  const std::size_t number = request_was_made();
  if (!is_refused(number, size)) return torch.allocate(result, allocator, size);
  request_was_refused(number, size);
  const Refusal refusal;
  return torch.allocate(result, allocator, size);
}

}  // namespace
}  // namespace memreplay::gpu

#pragma GCC visibility push(default)
extern "C" {

/// Puts itself between PyTorch, whose CUDA must be initialised, and its allocator, when requests
/// are to be refused. False: this PyTorch has not the functions that it takes.
bool memreplay_gpu_refuse_requests() {
  if (!refusals().any()) return true;
  void* const library = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return false;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
  };
  void*** allocator = nullptr;
  void**** pointer = nullptr;
  find(pointer, "_ZN3c104cuda20CUDACachingAllocator9allocatorE");
  find(torch.current, "_ZN3c104cuda20getCurrentCUDAStreamEa");
  find(torch.external, "_ZN3c104cuda21getStreamFromExternalEP11CUstream_sta");
  find(torch.set_current, "_ZN3c104cuda20setCurrentCUDAStreamENS0_10CUDAStreamE");
  if (!pointer || !torch.current || !torch.external || !torch.set_current) return false;
  allocator = *pointer;
  if (!allocator) return false;

  // A copy of its table of functions, with the type before it: `allocate` is the third one.
  constexpr std::size_t kBefore = 2;
  constexpr std::size_t kAllocate = 2;
  static std::array<void*, 96> table;
  std::copy_n(*allocator - kBefore, table.size(), table.begin());
  torch.allocate = reinterpret_cast<Allocate>(table[kBefore + kAllocate]);
  table[kBefore + kAllocate] = reinterpret_cast<void*>(&allocate_or_refuse);
  *allocator = table.data() + kBefore;
  return true;
}

}  // extern "C"
#pragma GCC visibility pop
