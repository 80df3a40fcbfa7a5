#include <cstdio>
#include <cstring>

#include "machine.hpp"
#include "runtime.hpp"

// NVML: what PyTorch asks before it uses a device, and for expandable segments.
using namespace memreplay::gpu;

namespace {

constexpr Status kNoLink = 3;  // not supported

struct Memory {
  unsigned long long total, free, used;
};

Handle device_handle(unsigned index) {
  static char devices[64];
  return &devices[index];
}

unsigned index_of(Handle device) {
  return static_cast<unsigned>(static_cast<char*>(device) - static_cast<char*>(device_handle(0)));
}

Status by_index(unsigned index, Handle* device) {
  constexpr Status kInvalidArgument = 2;  // nvmlReturn_t has numbers of its own
  if (index >= static_cast<unsigned>(settings().count)) return kInvalidArgument;
  *device = device_handle(index);
  return kSuccess;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status nvmlInit() { return kSuccess; }
Status nvmlInit_v2() { return kSuccess; }
Status nvmlInitWithFlags(unsigned) { return kSuccess; }
Status nvmlShutdown() { return kSuccess; }
const char* nvmlErrorString(Status) { return "error of the virtual GPU"; }

Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(settings().count);
  return kSuccess;
}

Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* device) {
  return by_index(index, device);
}

Status nvmlDeviceGetHandleByPciBusId_v2(const char* text, Handle* device) {
  unsigned domain = 0;
  unsigned bus = 1;
  std::sscanf(text, "%x:%x", &domain, &bus);
  return by_index(bus - 1, device);
}

Status nvmlDeviceGetUUID(Handle device, char* text, unsigned room) {
  std::snprintf(text, room, "GPU-%08x-0000-0000-0000-000000000000", index_of(device) + 1);
  return kSuccess;
}

Status nvmlDeviceGetName(Handle, char* text, unsigned room) {
  std::snprintf(text, room, "%s", settings().name.c_str());
  return kSuccess;
}

Status nvmlDeviceGetMemoryInfo(Handle device, Memory* memory) {
  const std::lock_guard lock(machine().mutex);
  const DeviceMemory& asked = machine().devices[index_of(device)];
  *memory = {asked.capacity, asked.capacity - asked.used, asked.used};
  return kSuccess;
}

Status nvmlSystemGetCudaDriverVersion_v2(int* version) { return cudaDriverGetVersion(version); }

Status nvmlSystemGetDriverVersion(char* text, unsigned room) {
  std::snprintf(text, room, "0.0 (virtual)");
  return kSuccess;
}

Status nvmlDeviceGetNvLinkRemoteDeviceType(Handle, unsigned, int*) { return kNoLink; }
Status nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle, unsigned, void*) { return kNoLink; }

Status nvmlDeviceGetComputeRunningProcesses(Handle, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}

Status nvmlDeviceGetComputeRunningProcesses_v3(Handle, unsigned* count, void*) {
  *count = 0;
  return kSuccess;
}

/// PyTorch asks whether segments can be shared over a fabric; there is none.
Status nvmlDeviceGetGpuFabricInfoV(Handle, char* information) {
  constexpr std::size_t kVersion = 4;
  std::memset(information + kVersion, 0, 28);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
