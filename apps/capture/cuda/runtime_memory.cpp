// The runtime's memory.
#include "cuda/noting.hpp"

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
