#include "machine.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "device/host/pointer.hpp"

namespace memreplay::gpu {
namespace {

// Outside any process's addresses: what cuMemAddressReserve gives is not backed by memory.
constexpr AddressRange kReserved{Address{1} << 47, Address{1} << 48};
// Where a process of Linux has nothing: below the program and its heap, above what ASan shadows.
constexpr AddressRange kDevices{0x1400'0000'0000, 0x5400'0000'0000};
constexpr Bytes kSymbols = 32ULL << 20;  ///< at the end of each window

thread_local int this_threads_device = 0;
thread_local bool this_thread_is_refused = false;

/// Nothing of the host may be mapped there, and a touch ends the program, as on a real machine.
void keep_free(AddressRange range) {
  void* const at = pointer_to(range.from);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(at, range.size(), PROT_NONE, flags, -1, 0) == at) return;
  std::fprintf(stderr,
               "memreplay: cannot reserve %llu GiB of addresses for the virtual GPU; "
               "expected no limit of address space (ulimit -v)\n",
               static_cast<unsigned long long>(range.size() >> 30));
}

}  // namespace

Machine::Machine(SharedCards& cards) : reserved(kReserved) {
  const Settings& given = settings();
  const std::vector<int>& shown = visible_cards();
  window_ = kDevices.size() / std::bit_ceil(shown.size());
  devices.reserve(shown.size());
  for (const int card : shown) {
    const Address from = kDevices.from + devices.size() * window_;
    devices.emplace_back(
        DeviceCard{cards, static_cast<std::size_t>(card), given.total, given.context},
        AddressRange{from, from + window_ - kSymbols}, given.order);
  }
}

DeviceMemory& Machine::current() { return device(current_device()); }

std::optional<int> Machine::device_of(const void* pointer) {
  const auto address = reinterpret_cast<Address>(pointer);
  if (address >= kDevices.from && address < kDevices.from + devices.size() * window_) {
    return static_cast<int>((address - kDevices.from) / window_);
  }
  if (!reserved.contains(address)) return std::nullopt;
  const std::lock_guard lock(mutex);
  auto after = mapped.upper_bound(address);
  if (after == mapped.begin()) return 0;
  return physical[std::prev(after)->second.physical].device;
}

void* Machine::symbols() const { return pointer_to(kDevices.from + window_ - kSymbols); }

void Machine::release(std::uint64_t handle) {
  const auto found = physical.find(handle);
  if (found == physical.end() || --found->second.references > 0) return;
  device(found->second.device).discharge(found->second.size);
  physical.erase(found);
}

Status Machine::load(CardLibrary library) {
  if (!settings().libraries || !is_device(current_device())) return kSuccess;
  const auto which = static_cast<std::size_t>(library);
  const auto device = static_cast<std::size_t>(current_device());
  const std::uint64_t bit = std::uint64_t{1} << (device * kLibraryUses.size() + which);
  if ((loaded_.load(std::memory_order_relaxed) & bit) != 0) return kSuccess;
  const std::lock_guard lock(mutex);
  if ((loaded_.fetch_or(bit) & bit) != 0 || current().take(use_of(library).usual)) return kSuccess;
  loaded_.fetch_and(~bit);
  return failed(kOutOfMemory);
}

void Machine::reset_device() {
  const std::lock_guard lock(mutex);
  const int device = current_device();
  const auto is_there = [&](const auto& entry) { return entry.second.device == device; };
  std::erase_if(
      mapped, [&](const auto& entry) { return physical[entry.second.physical].device == device; });
  std::erase_if(physical, is_there);
  current().reset();
  const std::uint64_t libraries = (std::uint64_t{1} << kLibraryUses.size()) - 1;
  loaded_.fetch_and(~(libraries << static_cast<std::size_t>(device) * kLibraryUses.size()));
}

SharedCards& cards() {
  static SharedCards* const all = [] {
    const char* const path = std::getenv("MEMREPLAY_VIRTUAL_CARDS");
    return path ? new SharedCards(path) : new SharedCards;  // outlives what ends after it
  }();
  return *all;
}

Machine& machine() {
  static Machine* the_only_one = [] {
    keep_free(kDevices);
    pthread_atfork(nullptr, nullptr, [] {
      cards().forget_own();
      the_only_one = new Machine(cards());
    });
    return new Machine(cards());  // outlives what ends after it
  }();
  return *the_only_one;
}

int current_device() { return this_threads_device; }

Status choose_device(int device) {
  if (!is_device(device)) return failed(kInvalidDevice);
  this_threads_device = device;
  return kSuccess;
}

bool refusing() { return this_thread_is_refused; }
void set_refusing(bool refuse) { this_thread_is_refused = refuse; }

}  // namespace memreplay::gpu
