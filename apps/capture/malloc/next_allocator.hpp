#pragma once

#include <cstddef>

namespace memreplay::capture {

/// The allocator that the program would have without us: glibc's, or one preloaded after us.
struct NextAllocator {
  void* (*malloc)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;
  void* (*calloc)(std::size_t, std::size_t) = nullptr;
  void* (*realloc)(void*, std::size_t) = nullptr;
  void* (*reallocarray)(void*, std::size_t, std::size_t) = nullptr;
  void* (*aligned_alloc)(std::size_t, std::size_t) = nullptr;
  int (*posix_memalign)(void**, std::size_t, std::size_t) = nullptr;
  void* (*memalign)(std::size_t, std::size_t) = nullptr;
  void* (*valloc)(std::size_t) = nullptr;
  void* (*pvalloc)(std::size_t) = nullptr;
};

/// Looks them up the first time. Looking up may allocate: until the answer is there, `malloc`,
/// `calloc` and `memalign` of it serve from a small room of our own.
const NextAllocator& next_allocator();
/// Whether the block is in that room; such blocks are never freed.
bool is_of_first_room(const void* block);
std::size_t size_in_first_room(const void* block);

}  // namespace memreplay::capture
