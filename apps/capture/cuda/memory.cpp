#include <cstring>

#include "cuda/noting.hpp"

// The runtime's memory.
using namespace memreplay::capture;

int cudaMalloc(void** block, size_t size) {
  Allocating call({.kind = MemoryKind::device, .size = size});
  return call.done(next_cudaMalloc(block, size), block);
}

int cudaFree(void* block) {
  Freeing call(MemoryKind::device, number(block));
  return call.done(next_cudaFree(block));
}

int cudaMallocAsync(void** block, size_t size, void* stream) {
  Allocating call({.kind = MemoryKind::stream_ordered, .size = size, .stream = stream});
  return call.done(next_cudaMallocAsync(block, size, stream), block);
}

int cudaMallocAsync_ptsz(void** block, size_t size, void* stream) {
  Allocating call({.kind = MemoryKind::stream_ordered, .size = size, .stream = stream});
  return call.done(next_cudaMallocAsync_ptsz(block, size, stream), block);
}

int cudaFreeAsync(void* block, void* stream) {
  Freeing call(MemoryKind::stream_ordered, number(block), stream);
  return call.done(next_cudaFreeAsync(block, stream));
}

int cudaFreeAsync_ptsz(void* block, void* stream) {
  Freeing call(MemoryKind::stream_ordered, number(block), stream);
  return call.done(next_cudaFreeAsync_ptsz(block, stream));
}

int cudaMallocFromPoolAsync(void** block, size_t size, void* pool, void* stream) {
  Allocating call(
      {.kind = MemoryKind::stream_ordered, .size = size, .stream = stream, .pool = pool});
  return call.done(next_cudaMallocFromPoolAsync(block, size, pool, stream), block);
}

int cudaMallocFromPoolAsync_ptsz(void** block, size_t size, void* pool, void* stream) {
  Allocating call(
      {.kind = MemoryKind::stream_ordered, .size = size, .stream = stream, .pool = pool});
  return call.done(next_cudaMallocFromPoolAsync_ptsz(block, size, pool, stream), block);
}

int cudaMallocManaged(void** block, size_t size, unsigned flags) {
  Allocating call({.kind = MemoryKind::managed, .size = size});
  return call.done(next_cudaMallocManaged(block, size, flags), block);
}

int cudaMallocPitch(void** block, size_t* pitch, size_t width, size_t height) {
  Allocating call({.kind = MemoryKind::device, .size = width * height});
  const int result = next_cudaMallocPitch(block, pitch, width, height);
  if (result == 0) call.resize(*pitch * height);
  return call.done(result, block);
}

int cudaMallocHost(void** block, size_t size) {
  Allocating call({.kind = MemoryKind::pinned, .size = size});
  return call.done(next_cudaMallocHost(block, size), block);
}

int cudaHostAlloc(void** block, size_t size, unsigned flags) {
  Allocating call({.kind = MemoryKind::pinned, .size = size});
  return call.done(next_cudaHostAlloc(block, size, flags), block);
}

int cudaFreeHost(void* block) {
  Freeing call(MemoryKind::pinned, number(block));
  return call.done(next_cudaFreeHost(block));
}

// The driver's memory.

int cuMemAlloc_v2(uint64_t* block, size_t size) {
  Allocating call({.kind = MemoryKind::device, .library = Library::driver, .size = size});
  return call.done(next_cuMemAlloc_v2(block, size), block);
}

int cuMemFree_v2(uint64_t block) {
  Freeing call(MemoryKind::device, block);
  return call.done(next_cuMemFree_v2(block));
}

int cuMemAllocPitch_v2(uint64_t* block, size_t* pitch, size_t width, size_t height,
                       unsigned element) {
  Allocating call({.kind = MemoryKind::device, .library = Library::driver, .size = width * height});
  const int result = next_cuMemAllocPitch_v2(block, pitch, width, height, element);
  if (result == 0) call.resize(*pitch * height);
  return call.done(result, block);
}

int cuMemAllocManaged(uint64_t* block, size_t size, unsigned flags) {
  Allocating call({.kind = MemoryKind::managed, .library = Library::driver, .size = size});
  return call.done(next_cuMemAllocManaged(block, size, flags), block);
}

int cuMemAllocAsync(uint64_t* block, size_t size, void* stream) {
  Allocating call({MemoryKind::stream_ordered, Library::driver, size, stream});
  return call.done(next_cuMemAllocAsync(block, size, stream), block);
}

int cuMemAllocAsync_ptsz(uint64_t* block, size_t size, void* stream) {
  Allocating call({MemoryKind::stream_ordered, Library::driver, size, stream});
  return call.done(next_cuMemAllocAsync_ptsz(block, size, stream), block);
}

int cuMemAllocFromPoolAsync(uint64_t* block, size_t size, void* pool, void* stream) {
  Allocating call({MemoryKind::stream_ordered, Library::driver, size, stream, pool});
  return call.done(next_cuMemAllocFromPoolAsync(block, size, pool, stream), block);
}

int cuMemAllocFromPoolAsync_ptsz(uint64_t* block, size_t size, void* pool, void* stream) {
  Allocating call({MemoryKind::stream_ordered, Library::driver, size, stream, pool});
  return call.done(next_cuMemAllocFromPoolAsync_ptsz(block, size, pool, stream), block);
}

int cuMemFreeAsync(uint64_t block, void* stream) {
  Freeing call(MemoryKind::stream_ordered, block, stream);
  return call.done(next_cuMemFreeAsync(block, stream));
}

int cuMemFreeAsync_ptsz(uint64_t block, void* stream) {
  Freeing call(MemoryKind::stream_ordered, block, stream);
  return call.done(next_cuMemFreeAsync_ptsz(block, stream));
}

int cuMemAllocHost_v2(void** block, size_t size) {
  Allocating call({.kind = MemoryKind::pinned, .library = Library::driver, .size = size});
  return call.done(next_cuMemAllocHost_v2(block, size), block);
}

int cuMemHostAlloc(void** block, size_t size, unsigned flags) {
  Allocating call({.kind = MemoryKind::pinned, .library = Library::driver, .size = size});
  return call.done(next_cuMemHostAlloc(block, size, flags), block);
}

int cuMemFreeHost(void* block) {
  Freeing call(MemoryKind::pinned, number(block));
  return call.done(next_cuMemFreeHost(block));
}

// The driver's virtual memory: addresses, physical memory, and the mapping of one to the other.

namespace {

/// The front of CUmemAllocationProp.
struct MemoryProperties {
  int type;
  int handle_types;
  int location_type;
  int location;
};

constexpr int kOnDevice = 1;

int device_of(const void* properties) {
  MemoryProperties front;
  std::memcpy(&front, properties, sizeof front);
  return front.location_type == kOnDevice ? front.location : 0;
}

void note(Call call, uint64_t from, size_t size, uint64_t handle) {
  CudaRecord record;
  record.address = from;
  record.what = described(call, size);
  record.object = handle;
  record.kind = MemoryKind::addresses;
  write(record);
}

}  // namespace

int cuMemAddressReserve(uint64_t* from, size_t size, size_t alignment, uint64_t wish,
                        unsigned long long flags) {
  Allocating call({.kind = MemoryKind::addresses, .library = Library::driver, .size = size});
  return call.done(next_cuMemAddressReserve(from, size, alignment, wish, flags), from);
}

int cuMemAddressFree(uint64_t from, size_t size) {
  Freeing call(MemoryKind::addresses, from);
  return call.done(next_cuMemAddressFree(from, size));
}

int cuMemCreate(uint64_t* handle, size_t size, const void* properties, unsigned long long flags) {
  Allocating call({.kind = MemoryKind::physical,
                   .library = Library::driver,
                   .size = size,
                   .device = properties == nullptr ? 0 : device_of(properties)});
  return call.done(next_cuMemCreate(handle, size, properties, flags), handle);
}

int cuMemRelease(uint64_t handle) {
  Freeing call(MemoryKind::physical, handle);
  return call.done(next_cuMemRelease(handle));
}

int cuMemMap(uint64_t from, size_t size, size_t offset, uint64_t handle, unsigned long long flags) {
  const Outermost outermost;
  const int result = next_cuMemMap(from, size, offset, handle, flags);
  if (outermost && result == 0) note(Call::map, from, size, handle);
  return result;
}

/// Noted before it is done, as memory that nothing holds any more is gone with it.
int cuMemUnmap(uint64_t from, size_t size) {
  const Outermost outermost;
  if (outermost) note(Call::unmap, from, size, 0);
  return next_cuMemUnmap(from, size);
}
