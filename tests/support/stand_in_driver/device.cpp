// The device, its context and the names of errors.
#include <cstring>
#include <utility>

#include "world.hpp"

using stand_in::called;
using stand_in::called_in_context;
using stand_in::World;

namespace {

constexpr char kName[] = "stand-in GPU (test double)";
const CUcontext kContext = reinterpret_cast<CUcontext>(0x5743);

struct ErrorName {
  CUresult error;
  const char* name;
  const char* meaning;
};

constexpr ErrorName kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

CUresult look_up(CUresult error, const char** text, const char* ErrorName::*field) {
  for (const ErrorName& known : kErrors) {
    if (known.error != error) continue;
    *text = known.*field;
    return CUDA_SUCCESS;
  }
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

bool is_device(const World& w, CUdevice device) {
  return device >= 0 && device < w.settings.devices;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** text) {
  return look_up(error, text, &ErrorName::name);
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  return look_up(error, text, &ErrorName::meaning);
}

CUresult cuInit(unsigned) {
  return called("cuInit", [](World& w) {
    w.initialised = true;
    return w.settings.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return called("cuDeviceGetCount", [&](World& w) {
    *count = w.settings.devices;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return called("cuDeviceGet", [&](World& w) {
    if (!is_device(w, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return called("cuDeviceGetName", [&](World& w) {
    if (!is_device(w, device)) return CUDA_ERROR_INVALID_DEVICE;
    std::strncpy(name, kName, static_cast<std::size_t>(length));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return called("cuDeviceGetAttribute", [&](World& w) {
    const auto found = w.settings.attributes.find(attribute);
    if (!is_device(w, device) || found == w.settings.attributes.end()) {
      return w.wrong("attribute " + std::to_string(attribute) + " is not known here");
    }
    *value = found->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return called("cuDeviceTotalMem", [&](World& w) {
    if (!is_device(w, device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = w.settings.capacity;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return called("cuDevicePrimaryCtxRetain", [&](World& w) {
    if (!is_device(w, device)) return CUDA_ERROR_INVALID_DEVICE;
    ++w.contexts;
    *context = kContext;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return called("cuDevicePrimaryCtxRelease", [](World& w) {
    if (w.contexts == 0) return w.wrong("a context is released that was not retained");
    if (--w.contexts == 0) w.synchronise();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return called("cuCtxSetCurrent", [&](World&) {
    if (context != nullptr && context != kContext) return CUDA_ERROR_INVALID_CONTEXT;
    stand_in::set_current(context != nullptr);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return called_in_context("cuCtxSynchronize", [](World& w) {
    w.synchronise();
    return CUDA_SUCCESS;
  });
}
