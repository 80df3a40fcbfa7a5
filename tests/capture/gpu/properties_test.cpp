#include "gpu/properties.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "capture/gpu/gpu.hpp"
#ifdef MEMREPLAY_CUDA_HEADERS
#include <cuda_runtime_api.h>
#endif

namespace memreplay::gpu {
namespace {

constexpr const char* kSmallCard =
    "name=NVIDIA L4;total=1000000000;sm=8.9;multiprocessors=58;count=2";

template <typename Properties>
void expect_small_card(const Properties& all) {
  EXPECT_STREQ(all.name, "NVIDIA L4");
  EXPECT_EQ(all.total_global_memory, 1'000'000'000);
  EXPECT_EQ(all.major, 8);
  EXPECT_EQ(all.minor, 9);
  EXPECT_EQ(all.multiprocessors, 58);
  EXPECT_EQ(all.max_threads_per_multiprocessor, 1536);
  EXPECT_EQ(all.shared_memory_per_block_optin, 101376);
}

/// Room for any cudaDeviceProp, whose reserved words are not written.
struct Room {
  char bytes[4096] = {};
  template <typename Properties>
  Properties as() const {
    Properties all;
    std::memcpy(&all, bytes, sizeof all);
    return all;
  }
};

TEST(GpuProperties, OfCuda13HaveItsLayout) {
  on_a_gpu(kSmallCard, [](const Gpu& gpu) {
    Room room;
    gpu("memreplay_gpu_runtime", 13000);
    EXPECT_EQ(gpu("cudaGetDeviceProperties", static_cast<void*>(&room), 1), kSuccess);
    expect_small_card(room.as<Properties13>());
  });
}

TEST(GpuProperties, OfCuda12HaveTheirOwnName) {
  on_a_gpu(kSmallCard, [](const Gpu& gpu) {
    Room room;
    gpu("memreplay_gpu_runtime", 12040);
    EXPECT_EQ(gpu("cudaGetDeviceProperties_v2", static_cast<void*>(&room), 1), kSuccess);
    expect_small_card(room.as<Properties11>());
  });
}

TEST(GpuProperties, OfCuda11HaveTheNameOf13) {
  on_a_gpu(kSmallCard, [](const Gpu& gpu) {
    Room room;
    gpu("memreplay_gpu_runtime", 11080);
    EXPECT_EQ(gpu("cudaGetDeviceProperties", static_cast<void*>(&room), 0), kSuccess);
    expect_small_card(room.as<Properties11>());
  });
}

TEST(GpuProperties, AMultiprocessorHoldsBlocksUpToItsThreadsAndMemory) {
  on_a_gpu("sm=9.0", [](const Gpu& gpu) {
    const auto blocks = [&](int threads, std::size_t shared) {
      int found = 0;
      gpu("cudaOccupancyMaxActiveBlocksPerMultiprocessor", &found,
          static_cast<const void*>(nullptr), threads, shared);
      return found;
    };
    EXPECT_EQ(blocks(256, 0), 8);
    EXPECT_EQ(blocks(33, 0), 32);
    EXPECT_EQ(blocks(1024, 0), 2);
    EXPECT_EQ(blocks(128, 100'000), 2);
  });
}

TEST(GpuProperties, OfADeviceThatIsNotThereAreRefused) {
  on_a_gpu(kSmallCard, [](const Gpu& gpu) {
    Room room;
    EXPECT_EQ(gpu("cudaGetDeviceProperties", static_cast<void*>(&room), 2), kInvalidDevice);
    EXPECT_EQ(gpu("cudaGetDeviceProperties_v2", static_cast<void*>(&room), -1), kInvalidDevice);
  });
}

TEST(GpuProperties, AreThoseOfTheVersionOfTheTorch) {
  on_a_gpu("", [](const Gpu& gpu) {
    int version = 0;
    gpu("memreplay_gpu_runtime", 12040);
    gpu("cudaRuntimeGetVersion", &version);
    EXPECT_EQ(version, 12040);
    gpu("cudaDriverGetVersion", &version);
    EXPECT_EQ(version, 12080);
  });
}

#ifdef MEMREPLAY_CUDA_HEADERS
#if CUDART_VERSION >= 13000
using Ours = Properties13;
constexpr const char* kFunction = "cudaGetDeviceProperties";
#else
using Ours = Properties11;
constexpr const char* kFunction =
    CUDART_VERSION >= 12000 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties";
#endif

TEST(GpuProperties, AreWhereTheHeaderOfNvidiaHasThem) {
  on_a_gpu(kSmallCard, [](const Gpu& gpu) {
    static_assert(sizeof(Ours) <= sizeof(cudaDeviceProp));
#define MEMREPLAY_SAME(ours, theirs) \
  EXPECT_EQ(offsetof(Ours, ours), offsetof(cudaDeviceProp, theirs)) << #ours
    MEMREPLAY_SAME(uuid, uuid);
    MEMREPLAY_SAME(luid_device_node_mask, luidDeviceNodeMask);
    MEMREPLAY_SAME(total_global_memory, totalGlobalMem);
    MEMREPLAY_SAME(warp_size, warpSize);
    MEMREPLAY_SAME(memory_pitch, memPitch);
    MEMREPLAY_SAME(max_grid_size, maxGridSize);
    MEMREPLAY_SAME(total_const_memory, totalConstMem);
    MEMREPLAY_SAME(major, major);
    MEMREPLAY_SAME(texture_pitch_alignment, texturePitchAlignment);
    MEMREPLAY_SAME(multiprocessors, multiProcessorCount);
    MEMREPLAY_SAME(can_map_host_memory, canMapHostMemory);
    MEMREPLAY_SAME(textures, maxTexture1D);
    MEMREPLAY_SAME(surface_alignment, surfaceAlignment);
    MEMREPLAY_SAME(pci_bus, pciBusID);
    MEMREPLAY_SAME(memory_bus_width, memoryBusWidth);
    MEMREPLAY_SAME(l2_cache_size, l2CacheSize);
    MEMREPLAY_SAME(max_threads_per_multiprocessor, maxThreadsPerMultiProcessor);
    MEMREPLAY_SAME(shared_memory_per_multiprocessor, sharedMemPerMultiprocessor);
    MEMREPLAY_SAME(managed_memory, managedMemory);
    MEMREPLAY_SAME(pageable_memory_access, pageableMemoryAccess);
    MEMREPLAY_SAME(cooperative_launch, cooperativeLaunch);
    MEMREPLAY_SAME(shared_memory_per_block_optin, sharedMemPerBlockOptin);
    MEMREPLAY_SAME(max_blocks_per_multiprocessor, maxBlocksPerMultiProcessor);
    MEMREPLAY_SAME(reserved_shared_memory_per_block, reservedSharedMemPerBlock);
#undef MEMREPLAY_SAME
    gpu("memreplay_gpu_runtime", CUDART_VERSION);
    cudaDeviceProp theirs{};
    EXPECT_EQ(gpu(kFunction, static_cast<void*>(&theirs), 0), kSuccess);
    EXPECT_STREQ(theirs.name, "NVIDIA L4");
    EXPECT_EQ(theirs.multiProcessorCount, 58);
    EXPECT_EQ(theirs.sharedMemPerBlockOptin, 101376);
  });
}
#else
TEST(GpuProperties, AreWhereTheHeaderOfNvidiaHasThem) {
  GTEST_SKIP() << "built without the headers of CUDA";
}
#endif

// What engines ask of NVML before they choose their kernels.
TEST(GpuProperties, AreToldByNvmlToo) {
  on_a_gpu("sm=8.9;total=4194304;count=2", [](const Gpu& gpu) {
    void* device = nullptr;
    gpu("nvmlDeviceGetHandleByIndex_v2", 1U, &device);
    int major = 0;
    int minor = 0;
    gpu("nvmlDeviceGetCudaComputeCapability", device, &major, &minor);
    EXPECT_EQ(major * 10 + minor, 89);
    unsigned index = 0;
    gpu("nvmlDeviceGetIndex", device, &index);
    EXPECT_EQ(index, 1);
    int peers = 0;
    gpu("nvmlDeviceGetP2PStatus", device, device, 0, &peers);
    EXPECT_NE(peers, 0);
    std::array<unsigned long long, 5> memory{};  // the version, total, reserved, free, used
    gpu("nvmlDeviceGetMemoryInfo_v2", device, memory.data());
    EXPECT_EQ(memory[1], 4194304);
    EXPECT_EQ(memory[3], 4194304);
  });
}

TEST(GpuProperties, AreThoseOfTheDeviceWhoseContextIsCurrent) {
  on_a_gpu("count=2", [](const Gpu& gpu) {
    Handle second = nullptr;
    gpu("cuDevicePrimaryCtxRetain", &second, 1);
    EXPECT_EQ(gpu("cuCtxSetCurrent", second), kSuccess);
    int device = 0;
    gpu("cuCtxGetDevice", &device);
    EXPECT_EQ(device, 1);
  });
}

}  // namespace
}  // namespace memreplay::gpu
