// Functions in the place of those of the C library: those that give memory, and that which begins
// a thread.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>

#include "fault.hpp"

using memreplay::faults::is_due;
using memreplay::faults::Kind;

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

static bool refused() {
  if (!is_due(Kind::allocation)) return false;
  errno = ENOMEM;
  return true;
}

void* malloc(std::size_t size) { return refused() ? nullptr : __libc_malloc(size); }

void* calloc(std::size_t count, std::size_t size) {
  return refused() ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  return refused() ? nullptr : __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  return refused() ? nullptr : __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (refused()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                   void* argument) {
  if (is_due(Kind::thread)) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, begin, argument);
}

}  // extern "C"
