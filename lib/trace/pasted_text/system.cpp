#include <algorithm>

#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

// A region that the driver refuses is asked for again, a tenth smaller each time.
bool join_attempts(OomMessage& before, const OomMessage& after) {
  const auto& last =
      before[before[Figure::last_attempt] ? Figure::last_attempt : Figure::requested];
  const auto& next = after[Figure::requested];
  if (!last || !next || next->bytes > last->bytes || before[Count::rank] != after[Count::rank])
    return false;
  if (next->bytes < last->bytes) before[Figure::last_attempt] = next;
  before[Count::retries] = before[Count::retries].value_or(0) + 1;
  return true;
}

void complete_error(OomMessage& message, const MessageSpan& span) {
  struct Library {
    Pattern sign;
    const char* name;
  };
  static const Library kLibraries[] = {{"CUBLAS", "cuBLAS"},
                                       {"CUDNN", "cuDNN"},
                                       {"cuMemAlloc", "cuMemAlloc"},
                                       {"parallel_for", "Thrust"},
                                       {"Cuda failure", "NCCL"}};
  for (const Library& library : kLibraries) {
    if (message[OomWord::call].empty() && span.says(library.sign))
      message[OomWord::call] = library.name;
  }
  static const Pattern kStorage = "THCStorage";
  if (span.says(kStorage)) message[OomWord::type] = "tensor";
  static const Pattern kHip = "HIP";
  static const Pattern kHipError = "hipError";
  static const Pattern kXpu = "UR_RESULT";
  static const Pattern kVulkan[] = {"VK_ERROR", "ErrorOutOfDeviceMemory"};
  message[OomWord::backend] =
      std::ranges::any_of(kVulkan, [&](const Pattern& p) { return span.says(p); }) ? "Vulkan"
      : span.says(kHip) || span.says(kHipError)                                    ? "HIP"
      : span.says(kXpu)                                                            ? "XPU"
                                                                                   : "CUDA";
}

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

// TensorFlow's and XLA's cuda_driver.cc, cuda_executor.cc and rocm_driver.cc: "7.62G (8183459840
// bytes)" in 1.x, "3.25GiB (…)" since.
MessageKind gpu_driver_message() {
  return {.name = "gpu-driver",
          .detail = "a line of TensorFlow's or JAX's driver",
          .starts = {"failed to allocate {size} ({requested}) from device",
                     "failed to allocate {requested} from device",
                     "failed to alloc {requested} unified memory"},
          .join = join_attempts};
}

// The runtime's own errors, without figures: torch/csrc and c10/cuda/CUDAException.cpp, THC before
// 1.0, NCCL, ONNX Runtime, Numba and PyCUDA, and what libraries return.
MessageKind gpu_error_message() {
  return {.name = "gpu-error",
          .detail = "an error of the GPU's runtime",
          .starts = {"CUDA error: out of memory",
                     "HIP error: out of memory",
                     "CUDA out of memory",
                     "HIP out of memory",
                     "cuda runtime error (2) : out of memory",
                     "cuda runtime err (2) : out of memory",
                     "CUDA failure 2: out of memory",
                     "Cuda failure 'out of memory'",
                     "Cuda failure 2 'out of memory'",
                     "CUDA_ERROR_OUT_OF_MEMORY",
                     "cudaErrorMemoryAllocation",
                     "hipErrorOutOfMemory",
                     "CUBLAS_STATUS_ALLOC_FAILED",
                     "CUDNN_STATUS_ALLOC_FAILED",
                     "cuMemAlloc failed: out of memory",
                     "parallel_for failed: out of memory",
                     "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
                     "CUDA error 2 at",
                     "VK_ERROR_OUT_OF_DEVICE_MEMORY",
                     "ErrorOutOfDeviceMemory",
                     "Cuda Error in allocate: 2 (out of memory)",
                     "Error Code 2: OutOfMemory",
                     "UR_RESULT_ERROR_OUT_OF_RESOURCES"},
          .complete = complete_error,
          .join =
              [](OomMessage& before, const OomMessage& after) {
                return before[OomWord::call] == after[OomWord::call] ||
                       after[OomWord::call].empty();
              },
          .is_bare = true};
}

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
