#include "machine.hpp"

// The driver's virtual memory calls: addresses, physical memory, and what is mapped where.
using namespace memreplay::gpu;

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
  if (found == all.physical.end()) return kInvalidValue;
  ++found->second.references;
  all.mapped[address] = {size, handle};
  return kSuccess;
}

Status cuMemUnmap(DevicePointer address, std::size_t size) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  auto mapping = all.mapped.lower_bound(address);
  while (mapping != all.mapped.end() && mapping->first < address + size) {
    all.release(mapping->second.physical);
    mapping = all.mapped.erase(mapping);
  }
  return kSuccess;
}

Status cuMemSetAccess(DevicePointer, std::size_t, const void*, std::size_t) { return kSuccess; }

Status cuMemRetainAllocationHandle(std::uint64_t* handle, void* pointer) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto mapping = all.mapped.find(reinterpret_cast<memreplay::Address>(pointer));
  if (mapping == all.mapped.end()) return kInvalidValue;
  *handle = mapping->second.physical;
  ++all.physical[*handle].references;
  return kSuccess;
}

Status cuMemExportToShareableHandle(void*, std::uint64_t, int, unsigned long long) {
  return kNotSupported;
}

Status cuMemImportFromShareableHandle(std::uint64_t*, void*, int) { return kNotSupported; }

}  // extern "C"
#pragma GCC visibility pop
