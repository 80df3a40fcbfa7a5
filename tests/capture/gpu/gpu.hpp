#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "gpu/abi.hpp"

namespace memreplay::gpu {

/// True when `test` meets its expectations in a process of its own: settings are read once.
inline bool holds_alone(const std::string& settings, const std::function<void()>& test) {
  std::fflush(nullptr);
  const pid_t process = ::fork();
  if (process == 0) {
    ::setenv("MEMREPLAY_VIRTUAL_GPU", settings.c_str(), 1);
    try {
      test();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(process, &status, 0);
  return status == 0;
}

/// The built libmemreplay_gpu.so in this process.
class Gpu {
 public:
  Gpu() : library_(::dlopen(MEMREPLAY_GPU_LIBRARY, RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error(::dlerror());
  }

  /// Calls one of its functions; arguments have the types of its declaration.
  template <typename... Arguments>
  Status operator()(const char* name, Arguments... arguments) const {
    void* const function = ::dlsym(library_, name);
    if (function == nullptr) throw std::runtime_error(name);
    return reinterpret_cast<Status (*)(Arguments...)>(function)(arguments...);
  }

  bool has(const char* name) const { return ::dlsym(library_, name) != nullptr; }

  void* allocated(std::size_t size) const {
    void* at = nullptr;
    return (*this)("cudaMalloc", &at, size) == kSuccess ? at : nullptr;
  }
  std::size_t free_bytes() const {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ((*this)("cudaMemGetInfo", &free, &total), kSuccess);
    return free;
  }
  /// Between any two places, as cudaMemcpyDefault does.
  Status copy(void* to, const void* from, std::size_t size) const {
    return (*this)("cudaMemcpy", to, from, size, 4);
  }

 private:
  void* library_;
};

/// Runs `test` in a process with a device of these settings.
inline void on_a_gpu(const std::string& settings, const std::function<void(const Gpu&)>& test) {
  EXPECT_TRUE(holds_alone(settings, [&] { test(Gpu()); }));
}

}  // namespace memreplay::gpu
