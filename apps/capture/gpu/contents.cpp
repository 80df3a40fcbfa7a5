#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "answers.hpp"
#include "device/host/pointer.hpp"
#include "machine.hpp"
#include "runtime.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kLargestKnown = 64 << 10;
constexpr std::size_t kMostKnown = 1024;

struct Known {
  std::mutex mutex;
  std::map<Address, std::vector<std::byte>> at;
  std::mt19937_64 random{settings().seed};
};

std::atomic<bool> something_is_known = false;

Known& known() {
  static Known& the_only_one = *new Known;
  return the_only_one;
}

void forget(Known& all, Address from, std::size_t size) {
  auto entry = all.at.lower_bound(from);
  if (entry != all.at.begin() && std::prev(entry)->first + std::prev(entry)->second.size() > from) {
    --entry;
  }
  while (entry != all.at.end() && entry->first < from + size) entry = all.at.erase(entry);
}

void remember(const void* to, const void* content, std::size_t size) {
  if (size > kLargestKnown && !something_is_known) return;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto address = reinterpret_cast<Address>(to);
  forget(all, address, size);
  if (!content || size > kLargestKnown) return;
  if (all.at.size() == kMostKnown) all.at.clear();
  const auto* bytes = static_cast<const std::byte*>(content);
  all.at.emplace(address, std::vector<std::byte>(bytes, bytes + size));
  something_is_known = true;
}

/// The bytes there, when all of them are known; else none.
std::vector<std::byte> known_at(const void* from, std::size_t size) {
  if (!something_is_known || size > kLargestKnown) return {};
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  const auto address = reinterpret_cast<Address>(from);
  auto entry = all.at.upper_bound(address);
  if (entry == all.at.begin()) return {};
  --entry;
  const std::size_t offset = address - entry->first;
  if (offset + size > entry->second.size()) return {};
  const auto first = entry->second.begin() + static_cast<std::ptrdiff_t>(offset);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

void fill(void* to, std::size_t size) {
  switch (settings().fill) {
    case Fill::zeros:
      zero_host(to, size);
      return;
    case Fill::nan:
      std::memset(to, 0xff, size);
      return;  // a NaN of every floating type
    case Fill::random:
      break;
  }
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  auto* bytes = static_cast<std::byte*>(to);
  for (std::size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
    const std::uint64_t value = all.random();
    std::memcpy(bytes + done, &value, std::min(sizeof value, size - done));
  }
}

}  // namespace

void copy(void* to, const void* from, std::size_t size) {
  if (size == 0) return;
  const bool to_device = machine().device_of(to).has_value();
  const bool from_device = machine().device_of(from).has_value();
  if (!to_device && !from_device) {
    std::memmove(to, from, size);
  } else if (to_device && !from_device) {
    remember(to, from, size);
  } else {
    const auto content = known_at(from, size);
    if (to_device) {
      remember(to, content.empty() ? nullptr : content.data(), size);
    } else if (!content.empty()) {
      std::memcpy(to, content.data(), size);
    } else {
      fill(to, size);
      value_was_read(size);
    }
  }
}

void set(void* to, int value, std::size_t size) {
  if (!machine().device_of(to)) {
    std::memset(to, value, size);
  } else if (size <= kLargestKnown) {
    const std::vector<std::byte> content(size, static_cast<std::byte>(value));
    remember(to, content.data(), size);
  } else {
    remember(to, nullptr, size);
  }
}

void a_kernel_ran() {
  if (!something_is_known) return;
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.at.clear();
  something_is_known = false;
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;
using memreplay::pointer_to;

namespace {

Status copied(void* to, const void* from, std::size_t size) {
  work_was_launched();
  copy(to, from, size);
  return kSuccess;
}

Status copied_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t rows) {
  work_was_launched();
  for (std::size_t row = 0; row < rows; ++row) {
    copy(static_cast<std::byte*>(to) + row * to_pitch,
         static_cast<const std::byte*>(from) + row * from_pitch, width);
  }
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaMemcpy(void* to, const void* from, std::size_t size, int) {
  copied(to, from, size);
  everything_is_done();
  return kSuccess;
}

Status cudaMemcpyAsync(void* to, const void* from, std::size_t size, int, Stream) {
  return copied(to, from, size);
}

Status cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t size, Stream) {
  return copied(to, from, size);
}

Status cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                    std::size_t width, std::size_t rows, int) {
  copied_rows(to, to_pitch, from, from_pitch, width, rows);
  everything_is_done();
  return kSuccess;
}

Status cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t rows, int, Stream) {
  return copied_rows(to, to_pitch, from, from_pitch, width, rows);
}

Status cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int) {
  return kSuccess;
}

Status cudaMemset(void* to, int value, std::size_t size) {
  work_was_launched();
  set(to, value, size);
  return kSuccess;
}

Status cudaMemsetAsync(void* to, int value, std::size_t size, Stream) {
  return cudaMemset(to, value, size);
}

Status cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t size, Stream) {
  return copied(pointer_to(to), from, size);
}

Status cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t size, Stream) {
  return copied(to, pointer_to(from), size);
}

Status cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t size, Stream) {
  return copied(pointer_to(to), pointer_to(from), size);
}

Status cuMemsetD32Async(DevicePointer, unsigned, std::size_t, Stream) {
  work_was_launched();
  a_kernel_ran();
  return kSuccess;
}

Status cuStreamWriteValue32(Stream, DevicePointer to, std::uint32_t value, unsigned) {
  return copied(pointer_to(to), &value, sizeof value);
}

}  // extern "C"
#pragma GCC visibility pop
