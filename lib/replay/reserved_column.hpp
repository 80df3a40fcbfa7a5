#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace memreplay {

/// Addresses for a whole column, with memory only for the parts that are in use.
template <typename T>
class ReservedColumn {
 public:
  /// Reserves nothing where the column is not wanted. Throws std::runtime_error where the addresses
  /// cannot be had.
  explicit ReservedColumn(std::uint64_t size, bool wanted = true) : size_(wanted ? size : 0) {
    if (size_ == 0) return;
    void* reserved = ::mmap(nullptr, size_ * sizeof(T), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
      throw std::runtime_error(
          "the addresses for the columns of a long trace cannot be reserved (ulimit -v, or "
          "vm.overcommit_memory)");
    }
    values_ = static_cast<T*>(reserved);
  }
  ~ReservedColumn() {
    if (values_ != nullptr) ::munmap(values_, size_ * sizeof(T));
  }
  ReservedColumn(const ReservedColumn&) = delete;
  ReservedColumn& operator=(const ReservedColumn&) = delete;

  std::span<const T> first(std::uint64_t count) const { return {values_, std::min(count, size_)}; }
  /// Zeros where the column is wanted and nothing is given.
  void fill(std::uint64_t from, const std::vector<T>& values) {
    if (values_ != nullptr) std::ranges::copy(values, values_ + from);
  }
  /// Gives the memory of what lies before `end` back.
  void drop_before(std::uint64_t end) {
    if (values_ == nullptr) return;
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t bytes = end * sizeof(T) / page * page;
    if (bytes <= dropped_) return;
    ::madvise(reinterpret_cast<char*>(values_) + dropped_, bytes - dropped_, MADV_DONTNEED);
    dropped_ = bytes;
  }

 private:
  std::uint64_t size_;
  T* values_ = nullptr;
  std::uint64_t dropped_ = 0;  ///< bytes
};

}  // namespace memreplay
