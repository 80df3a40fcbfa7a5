#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "capture/gpu/gpu.hpp"
#include "capture/gpu/other_process.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

constexpr std::size_t kGranule = 2 * kMiB;

// Twelve granules on each card, of which each process's context takes two.
constexpr const char* kTwoCards = "total=25165824;context=4194304;count=2";

struct Use {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

std::vector<Use> running(const Gpu& gpu, unsigned card) {
  void* device = nullptr;
  gpu("nvmlDeviceGetHandleByIndex_v2", card, &device);
  std::vector<Use> all(9);
  auto count = static_cast<unsigned>(all.size());
  gpu("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, all.data());
  all.resize(count);
  return all;
}

std::size_t used_bytes(const Gpu& gpu, unsigned card) {
  void* device = nullptr;
  std::array<unsigned long long, 3> total_free_used{};
  gpu("nvmlDeviceGetHandleByIndex_v2", card, &device);
  gpu("nvmlDeviceGetMemoryInfo", device, total_free_used.data());
  return total_free_used[2];
}

TEST(GpuProcesses, ShareTheMemoryOfACard) {
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    EXPECT_EQ(gpu.free_bytes(), 10 * kGranule);
    const OtherProcess other([&] { gpu.allocated(5 * kGranule); });
    EXPECT_EQ(gpu.free_bytes(), 3 * kGranule);
    EXPECT_EQ(gpu.allocated(4 * kGranule), nullptr);
    EXPECT_NE(gpu.allocated(3 * kGranule), nullptr);
    other.kill();
    EXPECT_EQ(gpu.free_bytes(), 7 * kGranule);
  });
}

TEST(GpuProcesses, HaveAContextOnTheCardsThatTheyUse) {
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    int count = 0;
    gpu("cudaGetDeviceCount", &count);
    EXPECT_EQ(used_bytes(gpu, 0), 0);
    EXPECT_EQ(gpu("cudaSetDevice", 1), kSuccess);
    EXPECT_EQ(used_bytes(gpu, 0), 0);
    EXPECT_EQ(used_bytes(gpu, 1), 2 * kGranule);
    const OtherProcess other([&] { gpu.free_bytes(); });
    EXPECT_EQ(used_bytes(gpu, 1), 4 * kGranule);
  });
}

TEST(GpuProcesses, AreRefusedByACardWithoutRoomForTheirContext) {
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    EXPECT_EQ(used_bytes(gpu, 0), 0);
    const OtherProcess other([&] { gpu.allocated(9 * kGranule); });
    void* at = nullptr;
    std::size_t free = 0;
    EXPECT_EQ(gpu("cudaSetDevice", 0), kOutOfMemory);
    EXPECT_EQ(gpu("cudaMalloc", &at, std::size_t{1}), kOutOfMemory);
    EXPECT_EQ(gpu("cudaMemGetInfo", &free, &free), kOutOfMemory);
    EXPECT_EQ(running(gpu, 0).size(), 1);
  });
}

TEST(GpuProcesses, AreListedWithWhatTheyHave) {
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    gpu.allocated(kGranule);
    const OtherProcess other([&] {
      gpu("cudaSetDevice", 0);
      gpu.allocated(5 * kGranule);
    });
    const auto all = running(gpu, 0);
    ASSERT_EQ(all.size(), 2);
    EXPECT_EQ(all[0].pid, static_cast<unsigned>(::getpid()));
    EXPECT_EQ(all[0].bytes, 3 * kGranule);
    EXPECT_EQ(all[1].pid, static_cast<unsigned>(other.id()));
    EXPECT_EQ(all[1].bytes, 7 * kGranule);
    EXPECT_TRUE(running(gpu, 1).empty());
  });
}

TEST(GpuProcesses, DoNotFreeWhatTheirParentHas) {
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    void* const at = gpu.allocated(kGranule);
    const OtherProcess child([&] { gpu("cudaFree", at); });
    EXPECT_EQ(used_bytes(gpu, 0), 3 * kGranule);
    EXPECT_EQ(gpu("cudaFree", at), kSuccess);
  });
}

TEST(GpuProcesses, SeeTheCardThatCudaVisibleDevicesNames) {
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    gpu.allocated(kGranule);
    EXPECT_EQ(gpu("cudaSetDevice", 1), kInvalidDevice);
    EXPECT_EQ(used_bytes(gpu, 0), 0);
    EXPECT_EQ(used_bytes(gpu, 1), 3 * kGranule);
    std::array<char, 16> bus{};
    gpu("cudaDeviceGetPCIBusId", bus.data(), 16, 0);
    EXPECT_STREQ(bus.data(), "0000:02:00.0");
  });
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST(GpuProcesses, WithoutAVisibleCardHaveNoDevice) {
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  on_a_gpu(kTwoCards, [](const Gpu& gpu) {
    int count = 1;
    void* at = nullptr;
    EXPECT_EQ(gpu("cudaGetDeviceCount", &count), kNoDevice);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(gpu("cudaMalloc", &at, std::size_t{1}), kNoDevice);
  });
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace memreplay::gpu
