// Preloaded: records what a program asks of its allocator, and hands it on.
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "malloc/next_allocator.hpp"
#include "malloc/noting.hpp"

using namespace memreplay::capture;

namespace memreplay::capture {
constinit const RecorderKind kRecorder{"malloc", sizeof(Record)};
}

namespace {

void* noted(void* block, std::size_t size, std::size_t alignment = 0) {
  const bool is_refused = block == nullptr && errno == ENOMEM;
  if (block != nullptr) note<Call::allocate>(block, size, alignment);
  if (is_refused) note<Call::refused>(block, size, alignment);
  return block;
}

std::size_t product(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

/// A block of the first room moves to the allocator, which knows nothing of it.
void* move_from_first_room(void* old, std::size_t size) {
  void* const block = malloc(size);
  const std::size_t had = size_in_first_room(old);
  if (block != nullptr) std::memcpy(block, old, had < size ? had : size);
  return block;
}

/// The old block ends before the call, as another thread may have its place as soon as it is free;
/// the new one begins after it.
template <typename Reallocate>
void* reallocate(void* old, std::size_t size, const Reallocate& call_next) {
  if (is_of_first_room(old)) return move_from_first_room(old, size);
  const Outermost outermost;
  if (!outermost) return call_next();
  if (old == nullptr) return noted(call_next(), size);
  note<Call::reallocating>(old);
  void* const block = call_next();
  if (block != nullptr) {
    note<Call::allocate>(block, size);
  } else if (size != 0) {
    note<Call::kept>(old, size);
  }
  return block;
}

template <typename Allocate>
void* allocate(std::size_t size, std::size_t alignment, const Allocate& call_next) {
  const Outermost outermost;
  return outermost ? noted(call_next(), size, alignment) : call_next();
}

}  // namespace

#define MEMREPLAY_SEEN extern "C" [[gnu::visibility("default")]]

MEMREPLAY_SEEN void* malloc(size_t size) noexcept {
  return allocate(size, 0, [=] { return next_allocator().malloc(size); });
}

MEMREPLAY_SEEN void free(void* block) noexcept {
  if (block == nullptr || is_of_first_room(block)) return;
  const Outermost outermost;
  if (outermost) note<Call::free>(block);
  next_allocator().free(block);
}

MEMREPLAY_SEEN void* calloc(size_t count, size_t size) noexcept {
  return allocate(product(count, size), 0, [=] { return next_allocator().calloc(count, size); });
}

MEMREPLAY_SEEN void* realloc(void* old, size_t size) noexcept {
  return reallocate(old, size, [=] { return next_allocator().realloc(old, size); });
}

MEMREPLAY_SEEN void* reallocarray(void* old, size_t count, size_t size) noexcept {
  return reallocate(old, product(count, size),
                    [=] { return next_allocator().reallocarray(old, count, size); });
}

MEMREPLAY_SEEN void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return allocate(size, alignment, [=] { return next_allocator().aligned_alloc(alignment, size); });
}

MEMREPLAY_SEEN void* memalign(size_t alignment, size_t size) noexcept {
  return allocate(size, alignment, [=] { return next_allocator().memalign(alignment, size); });
}

MEMREPLAY_SEEN int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  const Outermost outermost;
  const int error = next_allocator().posix_memalign(block, alignment, size);
  if (!outermost) return error;
  if (error == 0) note<Call::allocate>(*block, size, alignment);
  if (error == ENOMEM) note<Call::refused>(nullptr, size, alignment);
  return error;
}

MEMREPLAY_SEEN void* valloc(size_t size) noexcept {
  return allocate(size, static_cast<size_t>(getpagesize()),
                  [=] { return next_allocator().valloc(size); });
}

MEMREPLAY_SEEN void* pvalloc(size_t size) noexcept {
  return allocate(size, static_cast<size_t>(getpagesize()),
                  [=] { return next_allocator().pvalloc(size); });
}
