#include "malloc/next_allocator.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>

namespace memreplay::capture {
namespace {

constexpr std::size_t kUnit = 16;
alignas(kUnit) std::byte first_room[64 * 1024];
constinit std::atomic<std::size_t> first_room_taken{0};

/// The size stands in front of the block.
void* take_first_room(std::size_t size) {
  if (size > sizeof first_room) return nullptr;
  const std::size_t room = (size + 2 * kUnit - 1) / kUnit * kUnit;
  const std::size_t from = first_room_taken.fetch_add(room);
  if (from + room > sizeof first_room) return nullptr;
  auto* const block = reinterpret_cast<std::size_t*>(first_room + from + kUnit);
  block[-1] = size;
  return block;
}

void* first_malloc(std::size_t size) { return take_first_room(size); }
void* first_calloc(std::size_t count, std::size_t size) {
  return size != 0 && count > sizeof first_room / size ? nullptr : take_first_room(count * size);
}
void* first_memalign(std::size_t alignment, std::size_t size) {
  return alignment > kUnit ? nullptr : take_first_room(size);
}
void first_free(void*) {}

constinit const NextAllocator of_first_room{.malloc = first_malloc,
                                            .free = first_free,
                                            .calloc = first_calloc,
                                            .aligned_alloc = first_memalign,
                                            .memalign = first_memalign};
constinit NextAllocator found;
constinit std::atomic<bool> is_found{false};
constinit thread_local bool looks_up = false;

template <typename Function>
void look_up(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void look_all_up() {
  const int error = errno;
  NextAllocator all;
  look_up(all.malloc, "malloc");
  look_up(all.free, "free");
  look_up(all.calloc, "calloc");
  look_up(all.realloc, "realloc");
  look_up(all.reallocarray, "reallocarray");
  look_up(all.aligned_alloc, "aligned_alloc");
  look_up(all.posix_memalign, "posix_memalign");
  look_up(all.memalign, "memalign");
  look_up(all.valloc, "valloc");
  look_up(all.pvalloc, "pvalloc");
  found = all;  // threads that are here at once find the same
  is_found.store(true, std::memory_order_release);
  errno = error;
}

}  // namespace

const NextAllocator& next_allocator() {
  if (is_found.load(std::memory_order_acquire)) [[likely]]
    return found;
  if (looks_up) return of_first_room;
  looks_up = true;
  look_all_up();
  looks_up = false;
  return found;
}

bool is_of_first_room(const void* block) {
  return block >= first_room && block < first_room + sizeof first_room;
}

std::size_t size_in_first_room(const void* block) {
  return static_cast<const std::size_t*>(block)[-1];
}

}  // namespace memreplay::capture
