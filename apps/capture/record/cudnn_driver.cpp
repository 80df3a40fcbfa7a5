#include <cstddef>

// libcuda.so.1 for the process that asks cuDNN (cudnn_library.hpp): the engines that cuDNN compiles
// when it plans (attention, fused operations) load what was compiled, and are left out where there
// is no driver. Nothing is kept here, and nothing runs: a plan's workspace is known before that.
// There is no cuInit, so that CUDA's runtime in the library finds no device, as it does without.

namespace {

int one;  ///< what every handle points to

}  // namespace

#define NEUTRAL(name) \
  int name() { return 0; }
#define MAKES(name)       \
  int name(void** made) { \
    *made = &one;         \
    return 0;             \
  }

#pragma GCC visibility push(default)
extern "C" {

NEUTRAL(cuCtxPopCurrent)
NEUTRAL(cuCtxPushCurrent)
NEUTRAL(cuKernelSetAttribute)
NEUTRAL(cuLaunchCooperativeKernel)
NEUTRAL(cuLaunchKernel)
NEUTRAL(cuLaunchKernelEx)
NEUTRAL(cuLibraryUnload)
NEUTRAL(cuLinkAddData)
NEUTRAL(cuLinkDestroy)

MAKES(cuCtxGetCurrent)
MAKES(cuKernelGetFunction)
MAKES(cuLibraryGetKernel)
MAKES(cuLibraryLoadData)
MAKES(cuLibraryLoadFromFile)

int cuStreamGetCtx(void*, void** context) { return cuCtxGetCurrent(context); }
int cuLinkCreate(unsigned, void*, void*, void** link) { return cuCtxGetCurrent(link); }
int cuLinkComplete(void*, void** code, std::size_t* size) {
  *size = sizeof one;
  return cuCtxGetCurrent(code);
}

int cuCtxGetLimit(std::size_t* bytes, int) {
  *bytes = 0;
  return 0;
}
int cuDeviceGet(int* device, int) {
  *device = 0;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDriverGetVersion(int* version) {
  constexpr int kNewest = 13000;
  *version = kNewest;
  return 0;
}
int cuGetErrorName(int, const char** name) {
  *name = "CUDA_SUCCESS";
  return 0;
}
int cuGetErrorString(int, const char** text) { return cuGetErrorName(0, text); }
int cuKernelGetAttribute(int* value, int, void*, int) { return cuDeviceGet(value, 0); }
int cuOccupancyMaxPotentialClusterSize(int* size, void*, void*) {
  constexpr int kPortable = 8;
  *size = kPortable;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
