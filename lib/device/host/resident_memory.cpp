#include "device/host/resident_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "device/host/system_error.hpp"

namespace memreplay {

ResidentMemory::ResidentMemory()
    : statm_(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      page_(static_cast<Bytes>(::sysconf(_SC_PAGESIZE))) {
  if (statm_ < 0) throw_system_error("/proc/self/statm");
}

ResidentMemory::~ResidentMemory() { ::close(statm_); }

Bytes ResidentMemory::sample() {
  std::array<char, 128> text;
  const ssize_t size = ::pread(statm_, text.data(), text.size(), 0);
  if (size < 0) throw_system_error("/proc/self/statm");
  // "SIZE RESIDENT ...", in pages.
  const char* end = text.data() + size;
  const char* at = std::find(static_cast<const char*>(text.data()), end, ' ');
  Bytes pages = 0;
  if (at != end) std::from_chars(at + 1, end, pages);
  const Bytes resident = pages * page_;
  for (ResidentGrowth* growth : watching_) growth->peak_ = std::max(growth->peak_, resident);
  return resident;
}

ResidentGrowth::ResidentGrowth(ResidentMemory& memory) : memory_(&memory) {
  memory.watching_.push_back(this);
  begin();
}

ResidentGrowth::~ResidentGrowth() { std::erase(memory_->watching_, this); }

void ResidentGrowth::begin() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
  base_ = memory_->sample();
  peak_ = base_;
}

}  // namespace memreplay
