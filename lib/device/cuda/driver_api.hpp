#pragma once

#include <cuda.h>

#include <string>
#include <type_traits>

#include "device/real/real_memory.hpp"

namespace memreplay {

template <class Function>
struct DriverCall {
  const char* name;  ///< as in messages, without the version
  Function* function = nullptr;
};

struct DriverCalls {
#define MEMREPLAY_DRIVER_CALL(call, symbol) DriverCall<decltype(::call)> call{#call};
#include "device/cuda/driver_calls.def"
#undef MEMREPLAY_DRIVER_CALL
};

/// The CUDA driver, loaded when the program runs: nothing is linked against it. What it refuses
/// becomes a DeviceError that begins with the name of the device.
class DriverApi : public DriverCalls {
 public:
  /// Throws DeviceError where there is no such shared object or it lacks a call. The
  /// driver stays loaded until the program ends: drivers do not bear to be unloaded.
  DriverApi(std::string device, const std::string& library);

  const std::string& device() const { return device_; }

  template <class Function, class... Arguments>
  void require(const DriverCall<Function>& call, Arguments... arguments) const {
    const CUresult result = call.function(arguments...);
    if (result != CUDA_SUCCESS) fail(call.name, result);
  }

  /// Makes a call that may find the device full: false then.
  template <class Function, class... Arguments>
  bool fits(const DriverCall<Function>& call, Arguments... arguments) const {
    const CUresult result = call.function(arguments...);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY) fail(call.name, result);
    return result == CUDA_SUCCESS;
  }

  /// Makes a call that gives something back at the end, where nobody listens to failures. A second
  /// time where the first fails: that failure may be one of work that was asked for before.
  template <class Function, class... Arguments>
  void discard(const DriverCall<Function>& call, Arguments... arguments) const noexcept {
    if (call.function(arguments...) != CUDA_SUCCESS) call.function(arguments...);
  }

  /// "cuda:0: cuMemMap: CUDA_ERROR_INVALID_VALUE (invalid argument)", then `advice`.
  [[noreturn]] void fail(const char* call, CUresult result, const std::string& advice = "") const;

 private:
  std::string device_;
};

}  // namespace memreplay
