#include "device/cuda/driver_api.hpp"

#include <dlfcn.h>

#include <utility>

namespace memreplay {
namespace {

template <class Function>
void resolve(DriverCall<Function>& call, void* library, const char* symbol,
             const std::string& device) {
  call.function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (call.function == nullptr) {
    throw DeviceError(device + ": the CUDA driver has no " + symbol + ": it is too old");
  }
}

}  // namespace

DriverApi::DriverApi(std::string device, const std::string& library) : device_(std::move(device)) {
  void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* const why = dlerror();
    throw DeviceError(device_ + ": no CUDA driver on this machine (" +
                      (why == nullptr ? library : std::string(why)) + ")");
  }
#define MEMREPLAY_DRIVER_CALL(call, symbol) resolve(call, loaded, symbol, device_);
#include "device/cuda/driver_calls.def"
#undef MEMREPLAY_DRIVER_CALL
}

void DriverApi::fail(const char* call, CUresult result, const std::string& advice) const {
  const char* name = nullptr;
  const char* meaning = nullptr;
  std::string text = device_ + ": " + call + ": ";
  if (cuGetErrorName.function(result, &name) == CUDA_SUCCESS && name != nullptr) {
    text += name;
  } else {
    text += "error " + std::to_string(static_cast<int>(result));
  }
  if (cuGetErrorString.function(result, &meaning) == CUDA_SUCCESS && meaning != nullptr) {
    text.append(" (").append(meaning).append(")");
  }
  throw DeviceError(text + advice);
}

}  // namespace memreplay
