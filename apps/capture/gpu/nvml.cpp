#include <algorithm>
#include <cstdio>
#include <cstring>

#include "machine.hpp"
#include "runtime.hpp"

// NVML: what PyTorch asks before it uses a device, and for expandable segments.
using namespace memreplay::gpu;

namespace {

// nvmlReturn_t has numbers of its own.
constexpr Status kInvalidArgument = 2;
constexpr Status kNoLink = 3;          // not supported
constexpr int kPeersNotSupported = 5;  // nvmlGpuP2PStatus_t
constexpr Status kNotFound = 6;
constexpr Status kInsufficientSize = 7;

struct Memory {
  unsigned long long total, free, used;
};

struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

/// nvmlProcessInfo_v1_t, which the function without a version has.
struct Process1 {
  unsigned pid;
  unsigned long long used;
};

struct Process2 {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

Handle device_handle(unsigned index) {
  static char devices[64];
  return &devices[index];
}

unsigned index_of(Handle device) {
  return static_cast<unsigned>(static_cast<char*>(device) - static_cast<char*>(device_handle(0)));
}

Status by_index(unsigned index, Handle* device) {
  if (index >= static_cast<unsigned>(card_count())) return kInvalidArgument;
  *device = device_handle(index);
  return kSuccess;
}

/// As many processes as `room` has place for; `count` says how many that is, and then how many
/// there are.
template <typename Process>
Status running(Handle device, unsigned* count, Process* room) {
  const auto all = cards().uses(index_of(device));
  const bool fits = all.size() <= *count;
  *count = static_cast<unsigned>(all.size());
  if (!fits) return kInsufficientSize;
  for (const CardUse& use : all) {
    std::memset(room, 0xff, sizeof *room);  // all ones: no instance
    room->pid = static_cast<unsigned>(use.process);
    room++->used = use.bytes;
  }
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
  *count = static_cast<unsigned>(card_count());
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

Status nvmlDeviceGetHandleByUUID(const char* text, Handle* device) {
  for (int card = 0; card < card_count(); ++card) {
    if (uuid_of_card(card) == text) return by_index(static_cast<unsigned>(card), device);
  }
  return kNotFound;
}

Status nvmlDeviceGetUUID(Handle device, char* text, unsigned room) {
  std::snprintf(text, room, "%s", uuid_of_card(static_cast<int>(index_of(device))).c_str());
  return kSuccess;
}

Status nvmlDeviceGetName(Handle, char* text, unsigned room) {
  std::snprintf(text, room, "%s", settings().name.c_str());
  return kSuccess;
}

Status nvmlDeviceGetMemoryInfo(Handle device, Memory* memory) {
  const auto total = settings().total;
  const auto used = std::min(total, cards().used(index_of(device)));
  *memory = {total, total - used, used};
  return kSuccess;
}

Status nvmlDeviceGetMemoryInfo_v2(Handle device, Memory2* memory) {
  Memory now{};
  nvmlDeviceGetMemoryInfo(device, &now);
  memory->total = now.total;
  memory->reserved = 0;
  memory->free = now.free;
  memory->used = now.used;
  return kSuccess;
}

Status nvmlDeviceGetCudaComputeCapability(Handle, int* major, int* minor) {
  *major = settings().major;
  *minor = settings().minor;
  return kSuccess;
}

Status nvmlDeviceGetIndex(Handle device, unsigned* index) {
  *index = index_of(device);
  return kSuccess;
}

Status nvmlDeviceGetMinorNumber(Handle device, unsigned* number) {
  return nvmlDeviceGetIndex(device, number);
}

/// As cudaDeviceCanAccessPeer.
Status nvmlDeviceGetP2PStatus(Handle, Handle, int, int* status) {
  *status = kPeersNotSupported;
  return kSuccess;
}

Status nvmlSystemGetCudaDriverVersion_v2(int* version) { return cudaDriverGetVersion(version); }

Status nvmlSystemGetDriverVersion(char* text, unsigned room) {
  std::snprintf(text, room, "0.0 (virtual)");
  return kSuccess;
}

Status nvmlDeviceGetNvLinkRemoteDeviceType(Handle, unsigned, int*) { return kNoLink; }
Status nvmlDeviceGetNvLinkRemotePciInfo_v2(Handle, unsigned, void*) { return kNoLink; }

Status nvmlDeviceGetComputeRunningProcesses(Handle device, unsigned* count, Process1* room) {
  return running(device, count, room);
}

Status nvmlDeviceGetComputeRunningProcesses_v2(Handle device, unsigned* count, Process2* room) {
  return running(device, count, room);
}

Status nvmlDeviceGetComputeRunningProcesses_v3(Handle device, unsigned* count, Process2* room) {
  return running(device, count, room);
}

/// PyTorch asks whether segments can be shared over a fabric; there is none.
Status nvmlDeviceGetGpuFabricInfoV(Handle, char* information) {
  constexpr std::size_t kVersion = 4;
  std::memset(information + kVersion, 0, 28);
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
