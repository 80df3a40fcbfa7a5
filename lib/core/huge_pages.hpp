#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Memory for a table whose rows are looked at in no order: where it is large, on pages of 2 MiB if
/// the system has them, since with small ones each look waits for the address of its page, too.
template <typename T>
class HugePages {
 public:
  using value_type = T;

  HugePages() = default;
  template <typename Other>
  HugePages(const HugePages<Other>&) {}  // NOLINT: as allocators do

  T* allocate(std::size_t count) {
    if (!are_worth_it(count)) return std::allocator<T>().allocate(count);
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new (bytes, std::align_val_t{kHugePage});
    madvise(memory, bytes / kSmallPage * kSmallPage, MADV_HUGEPAGE);  // nothing is lost without
    return static_cast<T*>(memory);
  }
  void deallocate(T* rows, std::size_t count) {
    if (!are_worth_it(count)) return std::allocator<T>().deallocate(rows, count);
    ::operator delete (rows, std::align_val_t{kHugePage});
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  static constexpr std::size_t kSmallPage = 4 * kKiB;
  static constexpr std::size_t kHugePage = 2 * kMiB;

  static bool are_worth_it(std::size_t count) {
    return count >= 2 * kHugePage / sizeof(T) && count <= SIZE_MAX / 2 / sizeof(T);
  }
};

template <typename T>
using TableOf = std::vector<T, HugePages<T>>;

}  // namespace memreplay
