// An allocator whose operators new and delete call no malloc, as those of jemalloc, tcmalloc and
// mimalloc. Nothing is given twice.
#include <atomic>
#include <new>

namespace {

alignas(4096) std::byte room[1 << 20];
std::atomic<std::size_t> taken{0};

void* take(std::size_t size, std::align_val_t alignment = std::align_val_t{16}) {
  const auto unit = static_cast<std::size_t>(alignment);
  if (size > sizeof room) return nullptr;
  const std::size_t from = taken.fetch_add(size + 2 * unit) + unit;
  return room + from / unit * unit;
}

}  // namespace

void* operator new(std::size_t size) {
  void* const block = take(size);
  return block == nullptr ? throw std::bad_alloc() : block;
}
void* operator new[](std::size_t size) { return take(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return take(size); }
void* operator new(std::size_t size, std::align_val_t to) { return take(size, to); }
void* operator new[](std::size_t size, std::align_val_t to) { return take(size, to); }
void* operator new(std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return take(size, to);
}
void* operator new[](std::size_t size, std::align_val_t to, const std::nothrow_t&) noexcept {
  return take(size, to);
}
void operator delete(void*) noexcept {}
void operator delete[](void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}
void operator delete[](void*, std::size_t) noexcept {}
void operator delete(void*, const std::nothrow_t&) noexcept {}
void operator delete[](void*, const std::nothrow_t&) noexcept {}
void operator delete(void*, std::align_val_t) noexcept {}
void operator delete[](void*, std::align_val_t) noexcept {}
void operator delete(void*, std::size_t, std::align_val_t) noexcept {}
void operator delete[](void*, std::size_t, std::align_val_t) noexcept {}
