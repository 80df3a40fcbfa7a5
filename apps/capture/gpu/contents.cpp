#include "contents.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "host_memory.hpp"
#include "machine.hpp"
#include "told.hpp"

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
