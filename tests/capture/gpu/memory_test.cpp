#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "capture/gpu/gpu.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kGranule = 2 * kMiB;

// Twelve granules, two of them the context's.
constexpr const char* kSmall = "total=25165824;context=4194304;count=2";

TEST(GpuMemory, EndsAtTheLastGranule) {
  on_a_gpu(std::string(kSmall) + ";addresses=upward", [](const Gpu& gpu) {
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    std::vector<void*> all;
    for (int i = 0; i < 10; ++i) all.push_back(gpu.allocated(1));
    EXPECT_EQ(static_cast<char*>(all.back()) - static_cast<char*>(all.front()), 9 * kGranule);
    EXPECT_EQ(gpu.free_bytes(), 0);
    void* at = &all;
    EXPECT_EQ(gpu("cudaMalloc", &at, std::size_t{1}), kOutOfMemory);
    EXPECT_EQ(at, nullptr);
    EXPECT_EQ(gpu("cudaPeekAtLastError"), kOutOfMemory);
    EXPECT_EQ(gpu("cudaGetLastError"), kOutOfMemory);
    EXPECT_EQ(gpu("cudaGetLastError"), kSuccess);
  });
}

TEST(GpuMemory, UpwardIsUsedAgainFromTheLowestHole) {
  on_a_gpu(std::string(kSmall) + ";addresses=upward", [](const Gpu& gpu) {
    void* const first = gpu.allocated(2 * kGranule);
    void* const second = gpu.allocated(kGranule);
    void* const third = gpu.allocated(kGranule);
    gpu("cudaFree", first);
    gpu("cudaFree", third);
    EXPECT_EQ(gpu.allocated(kGranule), first);
    EXPECT_EQ(gpu.allocated(2 * kGranule), third);
    EXPECT_LT(first, second);
  });
}

TEST(GpuMemory, LiesWhereADriverPutsIt) {
  on_a_gpu("total=1073741824", [](const Gpu& gpu) {
    char* const first = static_cast<char*>(gpu.allocated(12 << 20));
    const auto behind = [&](std::size_t mib) {
      return (static_cast<char*>(gpu.allocated(mib << 20)) - first) >> 20;
    };
    EXPECT_EQ(behind(2), -74);
    EXPECT_EQ(behind(12), 12);
    EXPECT_EQ(behind(64), -552);
    EXPECT_EQ(behind(2), -584);
  });
}

TEST(GpuMemory, ThatNobodyHasIsNotFreed) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    int local = 0;
    char* const at = static_cast<char*>(gpu.allocated(kGranule));
    EXPECT_EQ(gpu("cudaFree", static_cast<void*>(&local)), kInvalidValue);
    EXPECT_EQ(gpu("cudaFree", static_cast<void*>(at + 512)), kInvalidValue);
    EXPECT_EQ(gpu("cudaFree", static_cast<void*>(at)), kSuccess);
    EXPECT_EQ(gpu("cudaFree", static_cast<void*>(at)), kInvalidValue);
    EXPECT_EQ(gpu("cudaFree", static_cast<void*>(nullptr)), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
  });
}

TEST(GpuMemory, OfNoBytesIsNowhere) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    void* at = &at;
    EXPECT_EQ(gpu("cudaMalloc", &at, std::size_t{0}), kSuccess);
    EXPECT_EQ(at, nullptr);
    EXPECT_EQ(gpu("cudaMalloc", static_cast<void**>(nullptr), std::size_t{1}), kInvalidValue);
  });
}

TEST(GpuMemory, IsThatOfTheChosenDevice) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    void* const here = gpu.allocated(kGranule);
    EXPECT_EQ(gpu("cudaSetDevice", 1), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    void* const there = gpu.allocated(3 * kGranule);
    EXPECT_EQ(gpu.free_bytes(), 7 * kGranule);
    PointerAttributes of{};
    gpu("cudaPointerGetAttributes", &of, static_cast<const void*>(there));
    EXPECT_EQ(of.device, 1);
    EXPECT_EQ(gpu("cudaFree", here), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 7 * kGranule);
    EXPECT_EQ(gpu("cudaSetDevice", 2), kInvalidDevice);
    EXPECT_EQ(gpu("cudaSetDevice", -1), kInvalidDevice);
    int device = 0;
    gpu("cudaGetDevice", &device);
    EXPECT_EQ(device, 1);
  });
}

TEST(GpuMemory, HasAttributesOfThreeKinds) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    PointerAttributes of{};
    char* const device = static_cast<char*>(gpu.allocated(1));
    EXPECT_EQ(gpu("cudaPointerGetAttributes", &of, static_cast<const void*>(device + 7)), kSuccess);
    EXPECT_EQ(of.type, MemoryKind::device);
    EXPECT_EQ(of.device_pointer, device + 7);
    void* pinned = nullptr;
    EXPECT_EQ(gpu("cudaHostAlloc", &pinned, std::size_t{5000}, 0U), kSuccess);
    gpu("cudaPointerGetAttributes", &of, static_cast<const void*>(pinned));
    EXPECT_EQ(of.type, MemoryKind::host);
    EXPECT_EQ(of.host_pointer, pinned);
    gpu("cudaPointerGetAttributes", &of, static_cast<const void*>(&of));
    EXPECT_EQ(of.type, MemoryKind::unregistered);
    EXPECT_EQ(of.device_pointer, nullptr);
    EXPECT_EQ(gpu("cudaFreeHost", pinned), kSuccess);
    EXPECT_EQ(gpu("cudaFreeHost", static_cast<void*>(&of)), kInvalidValue);
  });
}

TEST(GpuMemory, OfAPoolIsCountedInItsRounding) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    void* pool = nullptr;
    gpu("cudaDeviceGetDefaultMemPool", &pool, 0);
    void* at = nullptr;
    EXPECT_EQ(gpu("cudaMallocAsync", &at, std::size_t{700}, static_cast<Stream>(nullptr)),
              kSuccess);
    const auto attribute = [&](int number) {
      std::uint64_t value = 0;
      gpu("cudaMemPoolGetAttribute", pool, number, static_cast<void*>(&value));
      return value;
    };
    EXPECT_EQ(attribute(7), 1024);
    EXPECT_EQ(gpu("cudaFreeAsync", at, static_cast<Stream>(nullptr)), kSuccess);
    EXPECT_EQ(attribute(7), 0);
    EXPECT_EQ(attribute(8), 1024);
  });
}

TEST(GpuMemory, FillsEightLargeCardsOnAnyHost) {
  on_a_gpu("total=150000000000;count=8", [](const Gpu& gpu) {
    for (int device = 0; device < 8; ++device) {
      gpu("cudaSetDevice", device);
      EXPECT_NE(gpu.allocated(150'000'000'000 / kGranule * kGranule), nullptr);
      EXPECT_LT(gpu.free_bytes(), kGranule);
      EXPECT_EQ(gpu.allocated(1), nullptr);
    }
  });
}

// As 0.13 GiB of "non-torch memory" in vLLM's account of a real H100 (0.15 here).
TEST(GpuMemory, LibrariesTakeOfItAtTheirFirstUse) {
  on_a_gpu("total=1073741824;libraries=1", [](const Gpu& gpu) {
    const std::size_t before = gpu.free_bytes();
    void* const function = nullptr;
    for (int i = 0; i < 2; ++i) gpu("cuLaunchKernelEx", function, function, function, function);
    EXPECT_EQ(before - gpu.free_bytes(), 92 * kMiB);
    void* library = nullptr;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(gpu("cublasCreate_v2", &library), kSuccess);
    EXPECT_EQ(before - gpu.free_bytes(), 158 * kMiB);
    gpu.allocated(gpu.free_bytes());
    EXPECT_EQ(gpu("cudnnCreate", &library), kOutOfMemory);
  });
}

TEST(GpuMemory, IsAllFreeAfterAReset) {
  on_a_gpu("total=1073741824;context=4194304;libraries=1", [](const Gpu& gpu) {
    const std::size_t before = gpu.free_bytes();
    void* library = nullptr;
    gpu("cublasCreate_v2", &library);
    gpu.allocated(5 * kGranule);
    EXPECT_EQ(gpu("cudaDeviceReset"), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), before);
    gpu("cublasCreate_v2", &library);
    EXPECT_EQ(before - gpu.free_bytes(), 66 * kMiB);
  });
}

struct IpcHandle {
  char bytes[64];
};

TEST(GpuMemory, IsOpenedByOthersAtAnAddressThatTakesNothing) {
  on_a_gpu(kSmall, [](const Gpu& gpu) {
    void* const own = gpu.allocated(3 * kGranule);
    const std::size_t free = gpu.free_bytes();
    IpcHandle handle{};
    EXPECT_EQ(gpu("cudaIpcGetMemHandle", &handle, own), kSuccess);
    void* opened = nullptr;
    EXPECT_EQ(gpu("cudaIpcOpenMemHandle", &opened, handle, 1U), kSuccess);
    EXPECT_NE(opened, own);
    PointerAttributes attributes{};
    gpu("cudaPointerGetAttributes", &attributes, static_cast<const void*>(opened));
    EXPECT_EQ(attributes.type, MemoryKind::device);
    EXPECT_EQ(gpu.free_bytes(), free);
    EXPECT_EQ(gpu("cudaIpcCloseMemHandle", opened), kSuccess);
    EXPECT_EQ(gpu("cudaIpcCloseMemHandle", opened), kInvalidValue);
    EXPECT_EQ(gpu("cudaIpcGetMemHandle", &handle, opened), kInvalidValue);
  });
}

}  // namespace
}  // namespace memreplay::gpu
