#include "machine.hpp"

namespace memreplay::gpu {
namespace {

thread_local Status last = kSuccess;

struct Name {
  Status status;
  const char* runtime;
  const char* driver;
  const char* text;
};

constexpr Name kNames[] = {
    {kSuccess, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNoDevice, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {kInvalidDevice, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE",
     "invalid device ordinal"},
    {kIllegalState, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {kNotReady, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready"},
    {kNotSupported, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {kCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
};

const Name& name_of(Status status) {
  static constexpr Name kUnknown{-1, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"};
  for (const Name& name : kNames) {
    if (name.status == status) return name;
  }
  return kUnknown;
}

}  // namespace

Status failed(Status status) {
  last = status;
  return status;
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

Status cudaGetLastError() {
  const Status was = last;
  last = kSuccess;
  return was;
}

Status cudaPeekAtLastError() { return last; }
const char* cudaGetErrorString(Status status) { return name_of(status).text; }
const char* cudaGetErrorName(Status status) { return name_of(status).runtime; }

Status cuGetErrorString(Status status, const char** text) {
  *text = name_of(status).text;
  return kSuccess;
}

Status cuGetErrorName(Status status, const char** text) {
  *text = name_of(status).driver;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
