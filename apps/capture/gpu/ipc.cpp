#include <cstring>

#include "device/host/pointer.hpp"
#include "machine.hpp"

// Memory of one process that another one opens. Its addresses there take nothing of the card, which
// counts it for its owner; as everywhere, no values lie behind them.
using namespace memreplay::gpu;
using memreplay::Address;
using memreplay::Bytes;

namespace {

struct IpcHandle {
  Bytes size;
  int card;
  char unused[52];
};
static_assert(sizeof(IpcHandle) == 64);

struct EventHandle {
  char unused[64];
};

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cudaEventCreateWithFlags(Handle* event, unsigned flags);

Status cudaIpcGetMemHandle(IpcHandle* handle, void* pointer) {
  const std::lock_guard lock(machine().mutex);
  for (std::size_t i = 0; i < machine().devices.size(); ++i) {
    const auto range = machine().devices[i].window.holding(reinterpret_cast<Address>(pointer));
    if (!range) continue;
    *handle = {range->size(), card_of(static_cast<int>(i)), {}};
    return kSuccess;
  }
  return failed(kInvalidValue);
}

Status cudaIpcOpenMemHandle(void** pointer, IpcHandle handle, unsigned) {
  Machine& all = machine();
  const std::lock_guard lock(all.mutex);
  const auto at = all.reserved.take(in_granules(handle.size));
  if (!at) return failed(kOutOfMemory);
  int device = current_device();
  for (std::size_t i = 0; i < all.devices.size(); ++i) {
    if (card_of(static_cast<int>(i)) == handle.card) device = static_cast<int>(i);
  }
  all.physical[++all.next_physical] = {0, device, 1};
  all.mapped[*at] = {in_granules(handle.size), all.next_physical};
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
