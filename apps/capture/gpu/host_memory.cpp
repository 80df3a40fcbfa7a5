#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>

#include "machine.hpp"
#include "runtime.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kPage = 4096;

constexpr std::size_t in_pages(std::size_t size) {
  return ((size == 0 ? 1 : size) + kPage - 1) / kPage * kPage;
}

struct Pinned {
  std::size_t size;
  bool ours;  ///< mapped here; else registered by the program
};

struct PinnedMemory {
  std::mutex mutex;
  std::map<Address, Pinned> ranges;
};

std::atomic<void (*)()> first_watcher{nullptr};

void tell_the_first() {
  if (const auto watch = first_watcher.exchange(nullptr)) watch();
}

PinnedMemory& pinned() {
  static PinnedMemory& the_only_one = *new PinnedMemory;
  return the_only_one;
}

/// The range that holds this byte. The caller holds the mutex.
const Pinned* holding(Address byte) {
  auto after = pinned().ranges.upper_bound(byte);
  if (after == pinned().ranges.begin()) return nullptr;
  --after;
  return byte < after->first + in_pages(after->second.size) ? &after->second : nullptr;
}

}  // namespace

bool is_pinned(const void* pointer) {
  const std::lock_guard lock(pinned().mutex);
  return holding(reinterpret_cast<Address>(pointer)) != nullptr;
}

void zero_host(void* to, std::size_t size) {
  const auto from = reinterpret_cast<Address>(to);
  const Address first_page = (from + kPage - 1) / kPage * kPage;
  const Address end_page = (from + size) / kPage * kPage;
  bool ours = false;
  if (first_page < end_page) {
    const std::lock_guard lock(pinned().mutex);
    const Pinned* const range = holding(from);
    ours = range && range->ours;
  }
  if (!ours) {
    std::memset(to, 0, size);
    return;
  }
  auto* const bytes = static_cast<std::byte*>(to);
  std::memset(to, 0, first_page - from);
  madvise(bytes + (first_page - from), end_page - first_page, MADV_DONTNEED);
  std::memset(bytes + (end_page - from), 0, from + size - end_page);
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;
using memreplay::Address;

#pragma GCC visibility push(default)
extern "C" {

/// Calls `watch` before memory is pinned for the first time.
void memreplay_gpu_watch_pinned(void (*watch)()) { first_watcher = watch; }

Status cudaHostAlloc(void** address, std::size_t size, unsigned) {
  tell_the_first();
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const at = mmap(nullptr, in_pages(size), PROT_READ | PROT_WRITE, flags, -1, 0);
  if (at == MAP_FAILED) return failed(kOutOfMemory);
  const std::lock_guard lock(pinned().mutex);
  pinned().ranges[reinterpret_cast<Address>(at)] = {size, true};
  *address = at;
  return kSuccess;
}

Status cudaMallocHost(void** address, std::size_t size) { return cudaHostAlloc(address, size, 0); }

Status cudaFreeHost(void* pointer) {
  if (!pointer) return kSuccess;
  const std::lock_guard lock(pinned().mutex);
  const auto range = pinned().ranges.find(reinterpret_cast<Address>(pointer));
  if (range == pinned().ranges.end() || !range->second.ours) return failed(kInvalidValue);
  munmap(pointer, in_pages(range->second.size));
  pinned().ranges.erase(range);
  return kSuccess;
}

Status cudaHostRegister(void* pointer, std::size_t size, unsigned) {
  tell_the_first();
  const std::lock_guard lock(pinned().mutex);
  pinned().ranges[reinterpret_cast<Address>(pointer)] = {size, false};
  return kSuccess;
}

Status cudaHostUnregister(void* pointer) {
  const std::lock_guard lock(pinned().mutex);
  pinned().ranges.erase(reinterpret_cast<Address>(pointer));
  return kSuccess;
}

Status cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return kSuccess;
}

Status cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  auto* const given = const_cast<void*>(pointer);
  if (const auto device = machine().device_of(pointer)) {
    *attributes = {MemoryKind::device, *device, given, nullptr};
  } else if (is_pinned(pointer)) {
    *attributes = {MemoryKind::host, 0, given, given};
  } else {
    *attributes = {MemoryKind::unregistered, -2, nullptr, nullptr};
  }
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
