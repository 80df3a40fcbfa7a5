// Calls of CUDA, each of a size of its own. A program that is linked with the libraries, and a part
// that another program loads.
#include <cstdint>
#include <cstdio>

extern "C" {
int cudaSetDevice(int);
int cudaMalloc(void**, std::size_t);
int cudaFree(void*);
int cudaMallocAsync(void**, std::size_t, void*);
int cudaMallocFromPoolAsync(void**, std::size_t, void*, void*);
int cudaFreeAsync(void*, void*);
int cudaMallocManaged(void**, std::size_t, unsigned);
int cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
int cudaMallocHost(void**, std::size_t);
int cudaHostAlloc(void**, std::size_t, unsigned);
int cudaFreeHost(void*);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaGetDriverEntryPointByVersion(const char*, void**, unsigned, unsigned long long, int*);
int cuMemAlloc_v2(std::uint64_t*, std::size_t);
int cuMemFree_v2(std::uint64_t);
int cuMemAddressReserve(std::uint64_t*, std::size_t, std::size_t, std::uint64_t,
                        unsigned long long);
int cuMemAddressFree(std::uint64_t, std::size_t);
int cuMemCreate(std::uint64_t*, std::size_t, const void*, unsigned long long);
int cuMemRelease(std::uint64_t);
int cuMemMap(std::uint64_t, std::size_t, std::size_t, std::uint64_t, unsigned long long);
int cuMemUnmap(std::uint64_t, std::size_t);
int cuGetProcAddress_v2(const char*, void**, int, std::uint64_t, int*);
}

namespace {

void* handle(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
}

void of_the_runtime() {
  void* block = nullptr;
  void* kept = nullptr;
  std::size_t pitch = 0;
  cudaFree(nullptr);
  cudaMalloc(&block, 1000);
  cudaMalloc(&kept, 2000);
  cudaFree(block);
  cudaMalloc(&block, std::size_t{1} << 45);  // refused
  cudaMalloc(&block, 0);                     // invalid
  cudaMallocAsync(&block, 3000, handle(0x1000));
  cudaFreeAsync(block, handle(0x2000));
  cudaMallocFromPoolAsync(&block, 3500, handle(0x77), nullptr);
  cudaFreeAsync(block, nullptr);
  cudaMallocManaged(&block, 4000, 1);
  cudaFree(block);
  cudaFree(block);  // a second time: refused
  cudaMallocPitch(&block, &pitch, 100, 10);
  cudaFree(block);
  cudaMallocHost(&block, 6000);
  cudaFreeHost(block);
  cudaHostAlloc(&block, 6500, 0);
  cudaSetDevice(1);
  cudaMalloc(&block, 7000);
  cudaSetDevice(0);
  cudaFree(block);
}

void of_the_driver() {
  constexpr std::size_t kGranule = 2 << 20;
  const int on_device[] = {1, 0, 1, 0, 0, 0, 0, 0};
  std::uint64_t block = 0;
  std::uint64_t piece = 0;
  cuMemAlloc_v2(&block, 8000);
  cuMemFree_v2(block);
  cuMemAddressReserve(&block, 2 * kGranule, 0, 0, 0);
  cuMemCreate(&piece, kGranule, on_device, 0);
  cuMemMap(block, kGranule, 0, piece, 0);
  cuMemRelease(piece);
  cuMemAlloc_v2(&piece, 8500);
  cuMemUnmap(block, kGranule);
  cuMemAddressFree(block, 2 * kGranule);
}

void by_name() {
  using Allocate = int (*)(std::uint64_t*, std::size_t);
  using AllocateAsync = int (*)(std::uint64_t*, std::size_t, void*);
  void* function = nullptr;
  std::uint64_t block = 0;
  cudaGetDriverEntryPoint("cuMemAlloc", &function, 0, nullptr);
  reinterpret_cast<Allocate>(function)(&block, 9000);
  cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &function, 12000, 0, nullptr);
  reinterpret_cast<AllocateAsync>(function)(&block, 9100, nullptr);
  cuGetProcAddress_v2("cuMemAllocAsync", &function, 12000, 2, nullptr);
  reinterpret_cast<AllocateAsync>(function)(&block, 9200, nullptr);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] void make_calls() {
  of_the_runtime();
  of_the_driver();
  by_name();
}

int main() { make_calls(); }
