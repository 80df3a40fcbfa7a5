// A runtime over the driver that it finds by name, as the real one does.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace {

using Allocate = int (*)(std::uint64_t*, std::size_t);
using Free = int (*)(std::uint64_t);

constexpr int kVersion = 12000;
constexpr int kInvalid = 1;
constexpr std::uint64_t kPitch = 512;

/// The driver's own, or what stands in its place.
template <typename Function>
Function of_driver(const char* name) {
  using Get = int (*)(const char*, void**, int, std::uint64_t, int*);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto get = reinterpret_cast<Get>(dlsym(driver, "cuGetProcAddress_v2"));
  void* found = nullptr;
  if (get(name, &found, kVersion, 0, nullptr) != 0) found = dlsym(driver, name);
  return reinterpret_cast<Function>(found);
}

std::uint64_t number(void* block) { return reinterpret_cast<std::uintptr_t>(block); }
std::uint64_t* place(void** out) { return reinterpret_cast<std::uint64_t*>(out); }

}  // namespace

extern "C" {

int cudaSetDevice(int device) { return of_driver<int (*)(int)>("fakeSetDevice")(device); }
int cudaGetDevice(int* device) { return of_driver<int (*)(int*)>("cuCtxGetDevice")(device); }
int cudaMalloc(void** out, std::size_t size) {
  return of_driver<Allocate>("cuMemAlloc")(place(out), size);
}
int cudaFree(void* block) { return of_driver<Free>("cuMemFree")(number(block)); }
int cudaMallocAsync(void** out, std::size_t size, void*) { return cudaMalloc(out, size); }
int cudaMallocFromPoolAsync(void** out, std::size_t size, void*, void*) {
  return cudaMalloc(out, size);
}
int cudaFreeAsync(void* block, void*) { return cudaFree(block); }
int cudaMallocManaged(void** out, std::size_t size, unsigned) { return cudaMalloc(out, size); }
int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return cudaMalloc(out, *pitch * height);
}
int cudaMallocHost(void** out, std::size_t size) {
  *out = std::malloc(size);
  return 0;
}
int cudaHostAlloc(void** out, std::size_t size, unsigned) { return cudaMallocHost(out, size); }
int cudaFreeHost(void* block) {
  std::free(block);
  return 0;
}
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long, int*) {
  *function = of_driver<void*>(name);
  return *function == nullptr ? kInvalid : 0;
}
int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                     unsigned long long flags, int* status) {
  return cudaGetDriverEntryPoint(name, function, flags, status);
}

}  // extern "C"
