#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "device/host/pointer.hpp"
#include "machine.hpp"

// The driver's virtual memory calls: addresses, physical memory, and what is mapped where.
using namespace memreplay::gpu;
using memreplay::Address;
using memreplay::Bytes;

namespace {

void note_change(Machine& all, Address address, Bytes size, bool is_mapped) {
  using std::chrono::nanoseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  all.mapping_changes.push_back(
      {std::chrono::duration_cast<nanoseconds>(now).count(), address, size, is_mapped});
}

bool overlaps_a_mapping(const Machine& all, Address address, Bytes size) {
  const auto after = all.mapped.lower_bound(address);
  if (after != all.mapped.end() && after->first < address + size) return true;
  if (after == all.mapped.begin()) return false;
  const auto before = std::prev(after);
  return before->first + before->second.size > address;
}

constexpr int kPosixFile = 1;  ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/// Memory of one process that another one opens. Its addresses there take nothing of the card,
/// which counts it for its owner; as everywhere, no values lie behind them.
struct SharedMemory {
  Bytes size;
  int card;
  char unused[52];
};
static_assert(sizeof(SharedMemory) == 64);  // as cudaIpcMemHandle_t

std::uint64_t add_anothers(Machine& all, const SharedMemory& shared) {
  int device = current_device();
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    if (card_of(static_cast<int>(i)) == shared.card) device = static_cast<int>(i);
  }
  all.physical[++all.next_physical] = {0, device, 1};
  return all.next_physical;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuMemGetAllocationGranularity(std::size_t* granularity, const AllocationProperties*, int) {
  *granularity = kGranule;
  return kSuccess;
}

Status cuMemAddressReserve(DevicePointer* address, std::size_t size, std::size_t, DevicePointer,
                           unsigned long long) {
  const std::lock_guard lock(machine().mutex);
  const auto at = machine().reserved.take(size);
  if (!at) return kOutOfMemory;
  *address = *at;
  return kSuccess;
}

Status cuMemAddressFree(DevicePointer address, std::size_t) {
  const std::lock_guard lock(machine().mutex);
  return machine().reserved.give_back(address) ? kSuccess : kInvalidValue;
}

Status cuMemCreate(std::uint64_t* handle, std::size_t size, const AllocationProperties* properties,
                   unsigned long long) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const int device = properties ? properties->location.device : current_device();
  if (!is_device(device)) return kInvalidDevice;
  if (refusing() || !all.device(device).charge(size)) {
    return kOutOfMemory;
  }
  *handle = ++all.next_physical;
  all.physical[*handle] = {size, device, 1};
  return kSuccess;
}

Status cuMemRelease(std::uint64_t handle) {
  const std::lock_guard lock(machine().mutex);
  machine().release(handle);
  return kSuccess;
}

Status cuMemMap(DevicePointer address, std::size_t size, std::size_t, std::uint64_t handle,
                unsigned long long) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto found = all.physical.find(handle);
  if (found == all.physical.end() || overlaps_a_mapping(all, address, size)) return kInvalidValue;
  ++found->second.references;
  all.mapped[address] = {size, handle};
  note_change(all, address, size, true);
  return kSuccess;
}

Status cuMemUnmap(DevicePointer address, std::size_t size) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  auto mapping = all.mapped.lower_bound(address);
  while (mapping != all.mapped.end() && mapping->first < address + size) {
    all.release(mapping->second.physical);
    note_change(all, mapping->first, mapping->second.size, false);
    mapping = all.mapped.erase(mapping);
  }
  return kSuccess;
}

/// What was mapped and unmapped so far, as much of it as there is `room` for; how much that is.
std::size_t memreplay_gpu_mapping_changes(MappingChange* to, std::size_t room) {
  const std::lock_guard lock(machine().mutex);
  const auto& changes = machine().mapping_changes;
  std::copy_n(changes.begin(), std::min(room, changes.size()), to);
  return changes.size();
}

Status cuMemSetAccess(DevicePointer, std::size_t, const void*, std::size_t) { return kSuccess; }

Status cuMemRetainAllocationHandle(std::uint64_t* handle, void* pointer) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto mapping = all.mapped.find(reinterpret_cast<Address>(pointer));
  if (mapping == all.mapped.end()) return kInvalidValue;
  *handle = mapping->second.physical;
  ++all.physical[*handle].references;
  return kSuccess;
}

/// A file, which the other process gets through a socket.
Status cuMemExportToShareableHandle(void* file, std::uint64_t handle, int kind,
                                    unsigned long long) {
  if (kind != kPosixFile) return kNotSupported;
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto found = all.physical.find(handle);
  if (found == all.physical.end()) return kInvalidValue;
  const SharedMemory shared{found->second.size, card_of(found->second.device), {}};
  const int made = ::memfd_create("memreplay", MFD_CLOEXEC);
  if (made < 0 || ::write(made, &shared, sizeof shared) != sizeof shared) return kOutOfMemory;
  std::memcpy(file, &made, sizeof made);
  return kSuccess;
}

Status cuMemImportFromShareableHandle(std::uint64_t* handle, void* file, int kind) {
  if (kind != kPosixFile) return kNotSupported;
  SharedMemory shared{};
  const auto number = static_cast<int>(reinterpret_cast<std::intptr_t>(file));
  if (::pread(number, &shared, sizeof shared, 0) != sizeof shared) return kInvalidValue;
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  *handle = add_anothers(all, shared);
  return kSuccess;
}

// PyTorch asks for these by name with the others, and ends where one is missing.
Status cuMulticastCreate(std::uint64_t*, const void*) { return kNotSupported; }
Status cuMulticastAddDevice(std::uint64_t, int) { return kNotSupported; }
Status cuMulticastBindMem(std::uint64_t, std::size_t, std::uint64_t, std::size_t, std::size_t,
                          unsigned long long) {
  return kNotSupported;
}
Status cuMulticastUnbind(std::uint64_t, int, std::size_t, std::size_t) { return kNotSupported; }

}  // extern "C"
#pragma GCC visibility pop

namespace {

struct EventHandle {
  char unused[64];
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaEventCreateWithFlags(Handle* event, unsigned flags);

Status cudaIpcGetMemHandle(SharedMemory* handle, void* pointer) {
  const std::lock_guard lock(machine().mutex);
  for (std::size_t i = 0; i < machine().devices.size(); ++i) {
    const auto range = machine().devices[i].window.holding(reinterpret_cast<Address>(pointer));
    if (!range) continue;
    *handle = {range->size(), card_of(static_cast<int>(i)), {}};
    return kSuccess;
  }
  return failed(kInvalidValue);
}

Status cudaIpcOpenMemHandle(void** pointer, SharedMemory handle, unsigned) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto at = all.reserved.take(in_granules(handle.size));
  if (!at) return failed(kOutOfMemory);
  all.mapped[*at] = {in_granules(handle.size), add_anothers(all, handle)};
  *pointer = memreplay::pointer_to(*at);
  return kSuccess;
}

Status cudaIpcCloseMemHandle(void* pointer) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto mapping = all.mapped.find(reinterpret_cast<Address>(pointer));
  if (mapping == all.mapped.end()) return failed(kInvalidValue);
  all.release(mapping->second.physical);
  all.reserved.give_back(mapping->first);
  all.mapped.erase(mapping);
  return kSuccess;
}

/// The events of others are complete.
Status cudaIpcGetEventHandle(EventHandle* handle, Handle) {
  *handle = {};
  return kSuccess;
}

Status cudaIpcOpenEventHandle(Handle* event, EventHandle) {
  return cudaEventCreateWithFlags(event, 0);
}

}  // extern "C"
#pragma GCC visibility pop
