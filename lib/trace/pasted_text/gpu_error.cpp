#include <algorithm>

#include "trace/pasted_text/message_kind.hpp"

namespace memreplay {
namespace {

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

}  // namespace

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

}  // namespace memreplay
