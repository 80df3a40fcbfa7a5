// A driver that hands out addresses one after the other, for tests of what records its calls.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>

namespace {

constexpr int kInvalid = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNotFound = 500;
constexpr std::size_t kMost = std::size_t{1} << 40;

std::mutex lock;
std::set<std::uint64_t> live;
std::uint64_t next = std::uint64_t{1} << 44;
int device = 0;

int take(std::uint64_t* out, std::size_t size) {
  const std::scoped_lock locked(lock);
  if (size == 0) return kInvalid;
  if (size > kMost) return kOutOfMemory;
  *out = next;
  live.insert(next);
  next += (size + 511) / 512 * 512;
  return 0;
}

int give(std::uint64_t block) {
  const std::scoped_lock locked(lock);
  return live.erase(block) == 1 ? 0 : kInvalid;
}

}  // namespace

extern "C" {

int fakeSetDevice(int to) {
  device = to;
  return 0;
}
int cuCtxGetDevice(int* out) {
  *out = device;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* out, std::size_t size) { return take(out, size); }
int cuMemFree_v2(std::uint64_t block) { return block == 0 ? 0 : give(block); }
int cuMemAllocAsync(std::uint64_t* out, std::size_t size, void*) { return take(out, size); }
int cuMemAllocAsync_ptsz(std::uint64_t* out, std::size_t size, void*) { return take(out, size); }
int cuMemFreeAsync(std::uint64_t block, void*) { return give(block); }
int cuMemAddressReserve(std::uint64_t* out, std::size_t size, std::size_t, std::uint64_t,
                        unsigned long long) {
  return take(out, size);
}
int cuMemAddressFree(std::uint64_t from, std::size_t) { return give(from); }
int cuMemCreate(std::uint64_t* handle, std::size_t size, const void*, unsigned long long) {
  return take(handle, size);
}
int cuMemRelease(std::uint64_t handle) { return give(handle); }
int cuMemMap(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long) {
  return 0;
}
int cuMemUnmap(std::uint64_t, std::size_t) { return 0; }

int cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t flags, int*) {
  const struct {
    const char* name;
    void* function;
  } known[] = {{"cuMemAlloc", reinterpret_cast<void*>(&cuMemAlloc_v2)},
               {"cuMemFree", reinterpret_cast<void*>(&cuMemFree_v2)},
               {"cuMemAllocAsync", flags == 2 ? reinterpret_cast<void*>(&cuMemAllocAsync_ptsz)
                                              : reinterpret_cast<void*>(&cuMemAllocAsync)},
               {"cuMemFreeAsync", reinterpret_cast<void*>(&cuMemFreeAsync)},
               {"cuMemCreate", reinterpret_cast<void*>(&cuMemCreate)},
               {"cuMemRelease", reinterpret_cast<void*>(&cuMemRelease)},
               {"cuCtxGetDevice", reinterpret_cast<void*>(&cuCtxGetDevice)},
               {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress_v2)}};
  for (const auto& one : known) {
    if (std::strcmp(one.name, name) != 0) continue;
    *function = one.function;
    return 0;
  }
  return kNotFound;
}

}  // extern "C"
