#include <gtest/gtest.h>

#include <array>

#include "capture/gpu/gpu.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kGranule = 2 * kMiB;
constexpr auto kNoFlags = 0ULL;

constexpr const char* kTenGranules = "total=20971520;count=2";

Status create(const Gpu& gpu, std::uint64_t& handle, std::size_t granules, int device = 0) {
  const AllocationProperties properties{1, 0, {1, device}};
  return gpu("cuMemCreate", &handle, granules * kGranule, &properties, kNoFlags);
}

DevicePointer reserved(const Gpu& gpu, std::size_t granules) {
  DevicePointer at = 0;
  EXPECT_EQ(gpu("cuMemAddressReserve", &at, granules * kGranule, std::size_t{0}, DevicePointer{0},
                kNoFlags),
            kSuccess);
  return at;
}

Status map(const Gpu& gpu, DevicePointer at, std::size_t granules, std::uint64_t handle) {
  return gpu("cuMemMap", at, granules * kGranule, std::size_t{0}, handle, kNoFlags);
}

TEST(GpuVirtualMemory, IsChargedWhenItIsCreated) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    EXPECT_EQ(create(gpu, first, 6), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 4 * kGranule);
    EXPECT_EQ(create(gpu, second, 5), kOutOfMemory);
    EXPECT_EQ(create(gpu, second, 4), kSuccess);
    EXPECT_NE(first, second);
    EXPECT_EQ(gpu.allocated(1), nullptr);
    EXPECT_EQ(gpu("cuMemRelease", second), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 4 * kGranule);
  });
}

TEST(GpuVirtualMemory, AddressesTakeNoMemory) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    const DevicePointer first = reserved(gpu, 1000);
    const DevicePointer second = reserved(gpu, 1);
    EXPECT_EQ(second, first + 1000 * kGranule);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    EXPECT_EQ(gpu("cuMemAddressFree", first, 1000 * kGranule), kSuccess);
    EXPECT_EQ(gpu("cuMemAddressFree", first, 1000 * kGranule), kInvalidValue);
    EXPECT_EQ(reserved(gpu, 2), first);
  });
}

TEST(GpuVirtualMemory, StaysWhileItIsMapped) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    std::uint64_t handle = 0;
    create(gpu, handle, 3);
    const DevicePointer at = reserved(gpu, 10);
    EXPECT_EQ(map(gpu, at, 3, handle), kSuccess);
    gpu("cuMemRelease", handle);
    EXPECT_EQ(gpu.free_bytes(), 7 * kGranule);
    EXPECT_EQ(gpu("cuMemUnmap", at, 3 * kGranule), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    EXPECT_EQ(map(gpu, at, 3, handle), kInvalidValue);
  });
}

TEST(GpuVirtualMemory, IsFreeWithItsLastReference) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    std::uint64_t handle = 0;
    create(gpu, handle, 2);
    const DevicePointer at = reserved(gpu, 2);
    map(gpu, at, 2, handle);
    std::uint64_t again = 0;
    void* const pointer = reinterpret_cast<void*>(at);  // NOLINT(performance-no-int-to-ptr)
    EXPECT_EQ(gpu("cuMemRetainAllocationHandle", &again, pointer), kSuccess);
    EXPECT_EQ(again, handle);
    gpu("cuMemUnmap", at, 2 * kGranule);
    gpu("cuMemRelease", handle);
    EXPECT_EQ(gpu.free_bytes(), 8 * kGranule);
    gpu("cuMemRelease", handle);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
  });
}

TEST(GpuVirtualMemory, OfOneUnmapIsAllThatLiesThere) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    const DevicePointer at = reserved(gpu, 4);
    for (std::size_t i = 0; i < 4; ++i) {
      std::uint64_t handle = 0;
      create(gpu, handle, 1);
      map(gpu, at + i * kGranule, 1, handle);
      gpu("cuMemRelease", handle);
    }
    gpu("cuMemUnmap", at + kGranule, 2 * kGranule);
    EXPECT_EQ(gpu.free_bytes(), 8 * kGranule);
  });
}

TEST(GpuVirtualMemory, BelongsToTheDeviceThatItWasMadeOn) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    std::uint64_t handle = 0;
    EXPECT_EQ(create(gpu, handle, 1, 2), kInvalidDevice);
    EXPECT_EQ(create(gpu, handle, 1, 1), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    const DevicePointer at = reserved(gpu, 1);
    map(gpu, at, 1, handle);
    PointerAttributes of{};
    const auto* const inside = reinterpret_cast<const void*>(at + 9);  // NOLINT
    gpu("cudaPointerGetAttributes", &of, inside);
    EXPECT_EQ(of.type, MemoryKind::device);
    EXPECT_EQ(of.device, 1);
  });
}

TEST(GpuVirtualMemory, IsOpenedByOthersAsAFileAndTakesNothingAgain) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    constexpr int kPosixFile = 1;
    constexpr int kFabric = 8;
    std::uint64_t own = 0;
    EXPECT_EQ(create(gpu, own, 6), kSuccess);
    int file = -1;
    EXPECT_EQ(
        gpu("cuMemExportToShareableHandle", static_cast<void*>(&file), own, kFabric, kNoFlags),
        kNotSupported);
    EXPECT_EQ(
        gpu("cuMemExportToShareableHandle", static_cast<void*>(&file), own, kPosixFile, kNoFlags),
        kSuccess);
    std::uint64_t opened = 0;
    const auto import = [&](int from) {
      void* const given =
          reinterpret_cast<void*>(static_cast<std::intptr_t>(from));  // as CUDA does
      return gpu("cuMemImportFromShareableHandle", &opened, given, kPosixFile);
    };
    EXPECT_EQ(import(file), kSuccess);
    EXPECT_NE(opened, own);
    EXPECT_EQ(map(gpu, reserved(gpu, 6), 6, opened), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 4 * kGranule);
    EXPECT_EQ(gpu("cuMemRelease", own), kSuccess);
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    ::close(file);
    EXPECT_EQ(import(file), kInvalidValue);
  });
}

TEST(GpuVirtualMemory, IsFoundByTheNameThatProgramsAskFor) {
  on_a_gpu("", [](const Gpu& gpu) {
    const auto entry = [&](const char* name) {
      void* function = nullptr;
      int result = -1;
      gpu("cudaGetDriverEntryPoint", name, &function, kNoFlags, &result);
      EXPECT_EQ(result, 0);
      return function;
    };
    std::size_t free = 0;
    std::size_t total = 0;
    const auto ask =
        reinterpret_cast<Status (*)(std::size_t*, std::size_t*)>(entry("cuMemGetInfo"));
    EXPECT_EQ(ask(&free, &total), kSuccess);
    EXPECT_EQ(total, 80 * kGiB);
    EXPECT_NE(entry("cuMemCreate"), entry("cuMemMap"));
    EXPECT_EQ(reinterpret_cast<Status (*)()>(entry("cuOfTomorrow"))(), kSuccess);
  });
}

TEST(GpuVirtualMemory, HasAllThatPyTorchLooksUpWithExpandableSegments) {
  on_a_gpu("", [](const Gpu& gpu) {
    for (const char* name :
         {"cuGetErrorString", "cuMemAddressFree", "cuMemAddressReserve", "cuMemCreate",
          "cuMemExportToShareableHandle", "cuMemGetAllocationGranularity",
          "cuMemImportFromShareableHandle", "cuMemMap", "cuMemRelease", "cuMemSetAccess",
          "cuMemUnmap", "cuMulticastAddDevice", "cuMulticastBindMem", "cuMulticastCreate",
          "cuMulticastUnbind", "cuStreamWriteValue32"}) {
      EXPECT_TRUE(gpu.has(name)) << name;
    }
  });
}

TEST(GpuVirtualMemory, AStreamWritesAValue) {
  on_a_gpu("", [](const Gpu& gpu) {
    auto* const at = static_cast<std::uint32_t*>(gpu.allocated(512));
    const Status written = gpu("cuStreamWriteValue32", static_cast<void*>(nullptr),
                               reinterpret_cast<DevicePointer>(at), std::uint32_t{7}, 0u);
    EXPECT_EQ(written, kSuccess);
    std::uint32_t value = 0;
    EXPECT_EQ(gpu.copy(&value, at, sizeof value), kSuccess);
    EXPECT_EQ(value, 7u);
  });
}

struct MappingChange {
  std::int64_t time_ns;
  DevicePointer address;
  std::uint64_t size, is_mapped;
};

TEST(GpuVirtualMemory, TellsWhenItWasMappedAndUnmapped) {
  on_a_gpu(kTenGranules, [](const Gpu& gpu) {
    std::uint64_t handle = 0;
    create(gpu, handle, 3);
    const DevicePointer at = reserved(gpu, 4);
    EXPECT_EQ(map(gpu, at, 3, handle), kSuccess);
    EXPECT_EQ(map(gpu, at + 2 * kGranule, 1, handle), kInvalidValue);
    gpu("cuMemUnmap", at, 3 * kGranule);
    std::array<MappingChange, 3> changes{};
    EXPECT_EQ(gpu("memreplay_gpu_mapping_changes", changes.data(), changes.size()), 2);
    EXPECT_EQ(changes[0].address, at);
    EXPECT_EQ(changes[0].size, 3 * kGranule);
    EXPECT_EQ(changes[0].is_mapped, 1);
    EXPECT_EQ(changes[1].is_mapped, 0);
    EXPECT_LE(changes[0].time_ns, changes[1].time_ns);
  });
}

}  // namespace
}  // namespace memreplay::gpu
