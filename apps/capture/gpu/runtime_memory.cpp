#include <algorithm>
#include <cstring>

#include "device/host/pointer.hpp"
#include "machine.hpp"

// cudaMalloc and what belongs to it: memory with addresses of its own.
namespace memreplay::gpu {
namespace {

// A pool is known by its device: its handle counts from here.
constexpr std::uintptr_t kFirstPool = 0x500000;
constexpr std::uintptr_t kPoolStep = 0x100;
constexpr Bytes kPoolRounding = 512;

/// What the stream-ordered pool of a device has given.
struct PoolUse {
  Bytes used = 0;
  Bytes peak = 0;
  std::unordered_map<Address, Bytes> given;
};

PoolUse& pool_use(int device) {
  static std::vector<PoolUse>& pools = *new std::vector<PoolUse>(machine().devices.size());
  return pools[static_cast<std::size_t>(device)];
}

int device_of_pool(Handle pool) {
  const auto number = (reinterpret_cast<std::uintptr_t>(pool) - kFirstPool) / kPoolStep;
  return number < machine().devices.size() ? static_cast<int>(number) : 0;
}

Status allocate(void** address, std::size_t size) {
  *address = nullptr;
  if (!is_device(current_device())) return failed(kNoDevice);
  if (size == 0) return kSuccess;
  const auto at = refusing() ? std::nullopt : machine().current().allocate(size);
  if (!at) return failed(kOutOfMemory);
  *address = pointer_to(*at);
  return kSuccess;
}

Status free_at(void* pointer) {
  if (!pointer) return kSuccess;
  for (DeviceMemory& device : machine().devices) {
    if (device.free(reinterpret_cast<Address>(pointer))) return kSuccess;
  }
  return failed(kInvalidValue);
}

// cudaMemPoolAttr
constexpr int kReservedCurrent = 5;
constexpr int kReservedHigh = 6;
constexpr int kUsedCurrent = 7;
constexpr int kUsedHigh = 8;

}  // namespace
}  // namespace memreplay::gpu

using namespace memreplay::gpu;
using memreplay::Address;
using memreplay::Bytes;

#pragma GCC visibility push(default)
extern "C" {

Status cudaMalloc(void** address, std::size_t size) {
  const std::lock_guard lock(machine().mutex);
  return address ? allocate(address, size) : failed(kInvalidValue);
}

Status cudaFree(void* pointer) {
  const std::lock_guard lock(machine().mutex);
  return free_at(pointer);
}

Status cudaMallocManaged(void** address, std::size_t size, unsigned) {
  return cudaMalloc(address, size);
}

Status cudaMallocAsync(void** address, std::size_t size, Stream) {
  const std::lock_guard lock(machine().mutex);
  const Status status = allocate(address, size);
  if (status != kSuccess || !*address) return status;
  PoolUse& pool = pool_use(current_device());
  const Bytes rounded = (size + kPoolRounding - 1) / kPoolRounding * kPoolRounding;
  pool.given[reinterpret_cast<Address>(*address)] = rounded;
  pool.used += rounded;
  pool.peak = std::max(pool.peak, pool.used);
  return kSuccess;
}

Status cudaMallocFromPoolAsync(void** address, std::size_t size, Handle, Stream stream) {
  return cudaMallocAsync(address, size, stream);
}

Status cudaFreeAsync(void* pointer, Stream) {
  const std::lock_guard lock(machine().mutex);
  for (std::size_t device = 0; device < machine().devices.size(); ++device) {
    PoolUse& pool = pool_use(static_cast<int>(device));
    if (const auto block = pool.given.extract(reinterpret_cast<Address>(pointer))) {
      pool.used -= block.mapped();
    }
  }
  return free_at(pointer);
}

Status cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(machine().mutex);
  if (!is_device(current_device())) return failed(kNoDevice);
  DeviceMemory& device = machine().current();
  if (!device.use()) return failed(kOutOfMemory);
  if (free) *free = refusing() ? 0 : device.free_bytes();
  if (total) *total = device.card.capacity;
  return kSuccess;
}

Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return cudaMemGetInfo(free, total);
}

Status cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* size, DevicePointer pointer) {
  const std::lock_guard lock(machine().mutex);
  for (const DeviceMemory& device : machine().devices) {
    const auto range = device.window.holding(pointer);
    if (!range) continue;
    if (base) *base = range->from;
    if (size) *size = range->size();
    return kSuccess;
  }
  return kInvalidValue;
}

Status cudaDeviceGetDefaultMemPool(Handle* pool, int device) {
  *pool = memreplay::pointer_to(kFirstPool + static_cast<std::uintptr_t>(device) * kPoolStep);
  return kSuccess;
}

Status cudaMemPoolGetAttribute(Handle pool, int attribute, void* value) {
  const std::lock_guard lock(machine().mutex);
  const int number = device_of_pool(pool);
  const DeviceMemory& device = machine().device(number);
  const PoolUse& use = pool_use(number);
  const auto is = [&](Bytes bytes) { std::memcpy(value, &bytes, sizeof bytes); };
  switch (attribute) {
    case kReservedCurrent:
      is(device.used);
      break;
    case kReservedHigh:
      is(device.peak);
      break;
    case kUsedCurrent:
      is(use.used);
      break;
    case kUsedHigh:
      is(use.peak);
      break;
    case 4:
      is(0);
      break;  // cudaMemPoolAttrReleaseThreshold
    default:
      std::memset(value, 0, sizeof(int));
  }
  return kSuccess;
}

Status cudaMemPoolSetAttribute(Handle pool, int attribute, void*) {
  const std::lock_guard lock(machine().mutex);
  const int number = device_of_pool(pool);
  DeviceMemory& device = machine().device(number);
  if (attribute == kUsedHigh) pool_use(number).peak = pool_use(number).used;
  if (attribute == kReservedHigh) device.peak = device.used;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
