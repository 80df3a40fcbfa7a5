#include "physical_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <iterator>

namespace stand_in {

PhysicalMemory::~PhysicalMemory() {
  if (file_ >= 0) close(file_);
}

std::optional<std::uint64_t> PhysicalMemory::take(std::uint64_t size) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < size) continue;
    const auto [offset, available] = *range;
    free_.erase(range);
    if (available > size) free_[offset + size] = available - size;
    return offset;
  }
  if (file_ < 0) file_ = memfd_create("stand-in GPU memory", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(end_ + size)) != 0) return std::nullopt;
  end_ += size;
  return end_ - size;
}

void PhysicalMemory::give_back(std::uint64_t offset, std::uint64_t size) {
  // What fails here only keeps memory longer.
  (void)fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(size));
  auto range = free_.emplace(offset, size).first;
  if (const auto next = std::next(range); next != free_.end() && offset + size == next->first) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return;
  if (const auto previous = std::prev(range); previous->first + previous->second == offset) {
    previous->second += range->second;
    free_.erase(range);
  }
}

bool PhysicalMemory::map(std::uint64_t at, std::uint64_t size, std::uint64_t offset) {
  return mmap(reinterpret_cast<void*>(at), size, PROT_NONE, MAP_SHARED | MAP_FIXED, file_,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

}  // namespace stand_in
