#include <dlfcn.h>

#include <array>
#include <cstring>
#include <string>

#include "device/host/pointer.hpp"
#include "machine.hpp"
#include "properties.hpp"
#include "runtime.hpp"

// The driver's calls, and how programs look them up.
namespace memreplay::gpu {
namespace {

Handle context_of(int device) {
  static char contexts[64];
  return &contexts[device];
}

Status nothing_to_do() { return kSuccess; }

/// cuMemCreate, or cuMemGetInfo as cuMemGetInfo_v2. What is not here does nothing.
void* entry_point(const std::string& name) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&nothing_to_do), &self) != 0) {
    if (void* const library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD)) {
      for (const char* version : {"", "_v2", "_v3"}) {
        if (void* const found = dlsym(library, (name + version).c_str())) return found;
      }
    }
  }
  return reinterpret_cast<void*>(&nothing_to_do);
}

}  // namespace
}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

Status cuInit(unsigned) { return kSuccess; }
Status cuDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
Status cuDeviceGetCount(int* count) { return cudaGetDeviceCount(count); }

Status cuDeviceGet(int* device, int ordinal) {
  if (!is_device(ordinal)) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

Status cuDeviceGetAttribute(int* value, int attribute, int device) {
  return cudaDeviceGetAttribute(value, attribute, device);
}

Status cuDeviceGetName(char* name, int room, int) {
  std::strncpy(name, settings().name.c_str(), static_cast<std::size_t>(room));
  return kSuccess;
}

Status cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = settings().total;
  return kSuccess;
}

Status cuDeviceGetUuid(char* uuid, int device) {
  if (!is_device(device)) return kInvalidDevice;
  write_uuid(uuid, device);
  return kSuccess;
}

Status cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (!is_device(device)) return kInvalidDevice;
  const std::lock_guard lock(machine().mutex);
  if (flags) *flags = 0;
  if (active) *active = machine().device(device).has_context ? 1 : 0;
  return kSuccess;
}

Status cuDevicePrimaryCtxRetain(Handle* context, int device) {
  if (!is_device(device)) return kInvalidDevice;
  const std::lock_guard lock(machine().mutex);
  if (!machine().device(device).use()) return kOutOfMemory;
  *context = context_of(device);
  return kSuccess;
}

/// None of a device is none of a thread: what is asked next is asked of device 0.
Status cuCtxSetCurrent(Handle context) {
  if (!context) return choose_device(0);
  return choose_device(
      static_cast<int>(static_cast<char*>(context) - static_cast<char*>(context_of(0))));
}

Status cuCtxGetCurrent(Handle* context) {
  *context = context_of(current_device());
  return kSuccess;
}

/// What a context begins with, as an H100's has it; what a program sets is not kept.
Status cuCtxGetLimit(std::size_t* value, int limit) {
  constexpr std::array<std::size_t, 6> kAtFirst = {1024, 8650752, 8388608, 0, 2048, 64};
  const auto which = static_cast<std::size_t>(limit);
  if (limit < 0 || which >= kAtFirst.size()) return kInvalidValue;
  *value = kAtFirst[which];
  return kSuccess;
}

Status cuCtxSetLimit(int, std::size_t) { return kSuccess; }

Status cuCtxGetDevice(int* device) {
  *device = current_device();
  return kSuccess;
}

Status cuCtxPopCurrent_v2(Handle* context) {
  if (context) *context = context_of(current_device());
  return kSuccess;
}

Status cuPointerGetAttribute(void* value, int attribute, DevicePointer pointer) {
  constexpr int kMemoryType = 2;
  constexpr int kDevicePointer = 3;
  constexpr int kDeviceOrdinal = 9;
  const auto device = machine().device_of(memreplay::pointer_to(pointer));
  if (attribute == kMemoryType || attribute == kDeviceOrdinal) {
    const int number = attribute == kDeviceOrdinal ? device.value_or(0) : device ? 2 : 1;
    std::memcpy(value, &number, sizeof number);
  } else if (attribute == kDevicePointer) {
    std::memcpy(value, &pointer, sizeof pointer);
  } else {
    std::memset(value, 0, sizeof(void*));
  }
  return kSuccess;
}

Status cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                        unsigned long long, int* result) {
  *function = entry_point(name);
  if (result) *result = 0;
  return kSuccess;
}

Status cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                               int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, result);
}

Status cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int* result) {
  *function = entry_point(name);
  if (result) *result = 0;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
