#include "pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <new>

// The compiler's malloc rounds what is large up to a power of two and never joins what is freed:
// half of the memory that a page has would go.

namespace memreplay::web {
namespace {

constexpr std::size_t kPage = 64 * 1024;
constexpr std::size_t kPages = 65'536;  // 4 GiB
constexpr std::size_t kLarge = 1 << 20;

bool is_free[kPages];              // and ours
std::uint32_t pages_from[kPages];  // of the block that begins there; 0: none does

void* use(std::size_t first, std::size_t pages) {
  for (std::size_t page = first; page < first + pages; ++page) is_free[page] = false;
  pages_from[first] = static_cast<std::uint32_t>(pages);
  return reinterpret_cast<void*>(first * kPage);
}

}  // namespace

void* take_pages(std::size_t bytes) {
  const std::size_t wanted = bytes / kPage + (bytes % kPage != 0);
  const std::size_t end = __builtin_wasm_memory_size(0);
  std::size_t run = 0;  // free pages up to here
  for (std::size_t page = 0; page < end; ++page) {
    run = is_free[page] ? run + 1 : 0;
    if (run == wanted) return use(page + 1 - wanted, wanted);
  }
  if (__builtin_wasm_memory_grow(0, wanted - run) == SIZE_MAX) return nullptr;
  return use(end - run, wanted);
}

bool give_back(void* memory) {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t first = at / kPage;
  if (at % kPage != 0 || pages_from[first] == 0) return false;
  for (std::size_t page = first; page < first + pages_from[first]; ++page) is_free[page] = true;
  pages_from[first] = 0;
  return true;
}

}  // namespace memreplay::web

void* operator new(std::size_t bytes) {
  using namespace memreplay::web;
  void* const memory = bytes >= kLarge ? take_pages(bytes) : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  if (!memreplay::web::give_back(memory)) std::free(memory);
}
