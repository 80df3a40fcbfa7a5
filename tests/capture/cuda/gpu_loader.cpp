// gpu_loader PART: loads a part for itself alone, as Python loads an extension, and runs it.
// Without PART: finds the driver's functions by dlsym.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace {

int found_by_dlsym() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return 1;
  const auto allocate =
      reinterpret_cast<int (*)(std::uint64_t*, std::size_t)>(dlsym(driver, "cuMemAlloc_v2"));
  std::uint64_t block = 0;
  allocate(&block, 9300);
  const bool same =
      dlsym(driver, "cuCtxGetDevice") != nullptr && dlsym(driver, "cuNone") == nullptr;
  return same ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return found_by_dlsym();
  void* const part = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (part == nullptr) return std::puts(dlerror()), 1;
  reinterpret_cast<void (*)()>(dlsym(part, "make_calls"))();
  return 0;
}
