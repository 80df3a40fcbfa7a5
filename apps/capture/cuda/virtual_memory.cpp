// The driver's virtual memory: addresses, physical memory, and the mapping of one to the other.
#include <cstring>

#include "cuda/noting.hpp"

using namespace memreplay::capture;

namespace {

/// The front of CUmemAllocationProp.
struct MemoryProperties {
  int type;
  int handle_types;
  int location_type;
  int location;
};

constexpr int kOnDevice = 1;

int device_of(const void* properties) {
  MemoryProperties front;
  std::memcpy(&front, properties, sizeof front);
  return front.location_type == kOnDevice ? front.location : 0;
}

void note(Call call, uint64_t from, size_t size, uint64_t handle) {
  CudaRecord record;
  record.address = from;
  record.what = described(call, size);
  record.object = handle;
  record.kind = MemoryKind::addresses;
  write(record);
}

}  // namespace

int cuMemAddressReserve(uint64_t* from, size_t size, size_t alignment, uint64_t wish,
                        unsigned long long flags) {
  Allocating call({.kind = MemoryKind::addresses, .library = Library::driver, .size = size});
  return call.done(next_cuMemAddressReserve(from, size, alignment, wish, flags), from);
}

int cuMemAddressFree(uint64_t from, size_t size) {
  Freeing call(MemoryKind::addresses, from);
  return call.done(next_cuMemAddressFree(from, size));
}

int cuMemCreate(uint64_t* handle, size_t size, const void* properties, unsigned long long flags) {
  Allocating call({.kind = MemoryKind::physical,
                   .library = Library::driver,
                   .size = size,
                   .device = properties == nullptr ? 0 : device_of(properties)});
  return call.done(next_cuMemCreate(handle, size, properties, flags), handle);
}

int cuMemRelease(uint64_t handle) {
  Freeing call(MemoryKind::physical, handle);
  return call.done(next_cuMemRelease(handle));
}

int cuMemMap(uint64_t from, size_t size, size_t offset, uint64_t handle, unsigned long long flags) {
  const Outermost outermost;
  const int result = next_cuMemMap(from, size, offset, handle, flags);
  if (outermost && result == 0) note(Call::map, from, size, handle);
  return result;
}

/// Noted before it is done, as memory that nothing holds any more is gone with it.
int cuMemUnmap(uint64_t from, size_t size) {
  const Outermost outermost;
  if (outermost) note(Call::unmap, from, size, 0);
  return next_cuMemUnmap(from, size);
}
