#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_mlx(OomMessage& message, const MessageSpan& span) {
  static const Pattern kResources = "Resource limit (";
  static const Pattern kCommands = "kIOGPUCommandBuffer";
  if (span.says(kResources)) message[OomWord::type] = "buffers";
  if (span.says(kCommands)) message[OomWord::type] = "command buffer";
}

}  // namespace

// MLX's backend/metal/allocator.cpp and device.cpp: the maximum since 0.1; Metal's own error of a
// command buffer.
MessageKind mlx_message() {
  return {
      .name = "mlx",
      .detail = "MLX's error",
      .starts =
          {"Attempting to allocate {requested} which is greater than the maximum allowed buffer "
           "size of {limit}",
           "Attempting to allocate {requested} which is greater",
           "[malloc] Unable to allocate {requested}",
           "[malloc_or_wait] Unable to allocate {requested}",
           "[metal::malloc] Unable to allocate {requested}",
           "[metal::malloc] Resource limit ({number}) exceeded",
           "kIOGPUCommandBufferCallbackErrorOutOfMemory"},
      .complete = complete_mlx};
}

}  // namespace memreplay
