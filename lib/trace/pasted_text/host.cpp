#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

void complete_host(OomMessage& message, const MessageSpan& span) {
  static const Pattern kTorch = "CPUAllocator";
  static const Pattern kNumpy = "for an array";
  static const Pattern kPinned = "pinned";
  static const Pattern kKernel = "Out of memory: Kill";
  if (span.says(kTorch)) message[OomWord::allocator] = "PyTorch's allocator of host memory";
  if (span.says(kNumpy)) message[OomWord::allocator] = "NumPy";
  if (span.says(kPinned)) message[OomWord::type] = "pinned";
  if (span.says(kKernel)) message[OomWord::type] = "killed";
}

}  // namespace

// Memory of the host. PyTorch: c10/core/impl/alloc_cpu.cpp, c10/core/CPUAllocator.cpp up to 1.8,
// TH/THGeneral.cpp before; NumPy: numpy/core/_exceptions.py since 1.17; TensorFlow: gpu_driver and
// gpu_host_allocator; ggml: ggml.c and ggml-cuda.cu (pinned memory); the kernel's OOM killer.
MessageKind host_message() {
  return {.name = "host",
          .detail = "the message of an allocator of host memory",
          .starts = {"DefaultCPUAllocator: can't allocate memory",
                     "DefaultCPUAllocator: not enough memory",
                     "Torch: not enough memory: you tried to allocate",
                     "you tried to allocate {requested}",
                     "Unable to allocate {requested} for an array with shape{shape}and data type",
                     "Unable to allocate {requested} for an array",
                     "failed to alloc {requested} on host",
                     "could not allocate pinned host memory of size: {requested:B}",
                     "failed to allocate {requested} of pinned memory",
                     "insufficient memory (attempted to allocate {requested})",
                     "model requires more system memory ({requested}) than is available",
                     "Out of memory: Killed process", "Out of memory: Kill process"},
          .fields = {"anon-rss:{process}"},
          .complete = complete_host,
          .join = add_missing};
}

}  // namespace memreplay
