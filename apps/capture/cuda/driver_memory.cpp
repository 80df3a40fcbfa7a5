// The driver's memory.
#include "cuda/noting.hpp"

using namespace memreplay::capture;

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
