// Regions: cuMemAlloc and what copies.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "world.hpp"

namespace stand_in {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;
constexpr std::uint64_t kSmallUnit = 512;

}  // namespace

CUdeviceptr take_addresses(std::uint64_t size, bool with_memory) {
  const int access = with_memory ? PROT_READ | PROT_WRITE : PROT_NONE;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const mapped = mmap(nullptr, size + kGranule, access, flags, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  const auto from = reinterpret_cast<std::uint64_t>(mapped);
  const std::uint64_t aligned = round_up(from, kGranule);
  if (aligned > from) munmap(mapped, aligned - from);
  const std::uint64_t tail = from + kGranule - aligned;
  if (tail > 0) munmap(reinterpret_cast<void*>(aligned + size), tail);
  return aligned;
}

void give_back_addresses(CUdeviceptr at, std::uint64_t size) {
  munmap(reinterpret_cast<void*>(at), size);
}

CUdeviceptr take_host_memory(std::uint64_t size) {
  if (size >= kLarge) return take_addresses(size, true);
  return reinterpret_cast<CUdeviceptr>(std::aligned_alloc(kSmallUnit, size));
}

void give_back_host_memory(CUdeviceptr at, std::uint64_t size) {
  if (size >= kLarge) {
    give_back_addresses(at, size);
  } else {
    std::free(reinterpret_cast<void*>(at));
  }
}

}  // namespace stand_in

using stand_in::called_in_context;
using stand_in::hex;
using stand_in::World;

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return called_in_context("cuMemGetInfo", [&](World& w) {
    *total = w.settings.capacity;
    *free = w.settings.capacity - w.charged;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc(CUdeviceptr* at, std::size_t size) {
  return called_in_context("cuMemAlloc", [&](World& w) {
    if (size == 0) return w.wrong("cuMemAlloc of nothing");
    if (size > w.settings.capacity) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::uint64_t charged = stand_in::round_up(
        size, size >= stand_in::kLarge ? stand_in::kGranule : stand_in::kSmallUnit);
    if (!w.charge(charged)) return CUDA_ERROR_OUT_OF_MEMORY;
    *at = stand_in::take_host_memory(charged);
    if (*at == 0) {
      w.charged -= charged;
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    w.allocations[*at] = {charged};
    w.accessible[*at] = *at + charged;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree(CUdeviceptr at) {
  return called_in_context("cuMemFree", [&](World& w) {
    const auto found = w.allocations.find(at);
    if (found == w.allocations.end() || found->second.pool != nullptr) {
      return w.wrong("cuMemFree of " + hex(at) + ", which is not allocated");
    }
    w.synchronise();
    stand_in::give_back_host_memory(at, found->second.charged);
    w.charged -= found->second.charged;
    w.accessible.erase(at);
    w.allocations.erase(found);
    return CUDA_SUCCESS;
  });
}

// It waits for the default stream alone.
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t size) {
  return called_in_context("cuMemcpyDtoH", [&](World& w) {
    w.work.finish(nullptr);
    if (!w.can_access(from, from + size)) {
      return w.wrong("cuMemcpyDtoH reads " + hex(from) + ", where nothing is");
    }
    std::memcpy(to, reinterpret_cast<const void*>(from), size);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, std::size_t size) {
  return called_in_context("cuMemsetD8", [&](World& w) {
    w.work.add(nullptr, [&w, at, value, size] {
      if (!w.can_access(at, at + size)) {
        w.wrong("cuMemsetD8 writes to " + hex(at) + ", where nothing is");
      } else {
        std::memset(reinterpret_cast<void*>(at), value, size);
      }
    });
    return CUDA_SUCCESS;
  });
}
