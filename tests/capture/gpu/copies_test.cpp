#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "capture/gpu/gpu.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::size_t kCount = 300;
constexpr std::size_t kSize = kCount * sizeof(std::uint64_t);

Numbers read(const Gpu& gpu, const void* from, std::size_t count = kCount) {
  Numbers numbers(count, 7);
  gpu.copy(numbers.data(), from, count * sizeof(std::uint64_t));
  return numbers;
}

void launch(const Gpu& gpu) {
  gpu("cuLaunchKernel", static_cast<Handle>(nullptr), 1U, 1U, 1U, 1U, 1U, 1U, 0U,
      static_cast<Stream>(nullptr), static_cast<void**>(nullptr), static_cast<void**>(nullptr));
}

std::size_t bytes_read = 0;

TEST(GpuCopies, GiveZeros) {
  on_a_gpu("fill=zeros",
           [](const Gpu& gpu) { EXPECT_EQ(read(gpu, gpu.allocated(kSize)), Numbers(kCount, 0)); });
}

TEST(GpuCopies, GiveWhatIsNotANumber) {
  on_a_gpu("fill=nan", [](const Gpu& gpu) {
    void* const at = gpu.allocated(kSize);
    double value = 0;
    float small = 0;
    gpu.copy(&value, at, sizeof value);
    gpu.copy(&small, at, sizeof small);
    EXPECT_TRUE(std::isnan(value));
    EXPECT_TRUE(std::isnan(small));
  });
}

TEST(GpuCopies, GiveTheSameRandomBytesForTheSameSeed) {
  const auto first_of = [](const std::string& seed, const Numbers& expected, bool same) {
    return holds_alone("fill=random;seed=" + seed, [&] {
      const Gpu gpu;
      EXPECT_EQ(read(gpu, gpu.allocated(kSize), expected.size()) == expected, same);
    });
  };
  std::mt19937_64 three(3);
  const Numbers expected{three(), three(), three()};
  EXPECT_TRUE(first_of("3", expected, true));
  EXPECT_TRUE(first_of("4", expected, false));
}

TEST(GpuCopies, KnowWhatTheProgramPutThere) {
  on_a_gpu("", [](const Gpu& gpu) {
    Numbers given(kCount);
    for (std::size_t i = 0; i < kCount; ++i) given[i] = i;
    auto* const at = static_cast<char*>(gpu.allocated(2 * kSize));
    gpu.copy(at, given.data(), kSize);
    EXPECT_EQ(read(gpu, at), given);
    EXPECT_EQ(read(gpu, at + 8 * sizeof(std::uint64_t), 2), (Numbers{8, 9}));
    gpu.copy(at + kSize, at, kSize);
    EXPECT_EQ(read(gpu, at + kSize), given);
    EXPECT_EQ(read(gpu, at, kCount + 1), Numbers(kCount + 1, 0));
  });
}

TEST(GpuCopies, KnowNothingAfterAKernel) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Numbers given(kCount, 5);
    void* const at = gpu.allocated(kSize);
    gpu.copy(at, given.data(), kSize);
    launch(gpu);
    EXPECT_EQ(read(gpu, at), Numbers(kCount, 0));
  });
}

TEST(GpuCopies, KnowWhatWasSet) {
  on_a_gpu("", [](const Gpu& gpu) {
    auto* const at = static_cast<char*>(gpu.allocated(kSize));
    gpu("cudaMemset", static_cast<void*>(at), 1, kSize);
    EXPECT_EQ(read(gpu, at, 1), Numbers{0x0101'0101'0101'0101});
    gpu("cudaMemset", static_cast<void*>(at), 2, sizeof(std::uint64_t));
    EXPECT_EQ(read(gpu, at, 1), Numbers{0x0202'0202'0202'0202});
  });
}

TEST(GpuCopies, ForgetWhatIsWrittenOver) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Numbers given(kCount, 5);
    auto* const at = static_cast<char*>(gpu.allocated(kMiB));
    gpu.copy(at, given.data(), kSize);
    const std::vector<char> large(kMiB, 1);
    gpu.copy(at, large.data(), large.size());
    EXPECT_EQ(read(gpu, at), Numbers(kCount, 0));
  });
}

TEST(GpuCopies, BetweenPlacesOfTheHostAreReal) {
  on_a_gpu("fill=nan", [](const Gpu& gpu) {
    const Numbers given(kCount, 5);
    EXPECT_EQ(read(gpu, given.data()), given);
  });
}

TEST(GpuCopies, OfRowsLeaveWhatLiesBetweenThem) {
  on_a_gpu("", [](const Gpu& gpu) {
    std::vector<char> rows(12, 'x');
    gpu("cudaMemcpy2D", static_cast<void*>(rows.data()), std::size_t{4},
        static_cast<const void*>(gpu.allocated(64)), std::size_t{16}, std::size_t{3},
        std::size_t{3}, 2);
    EXPECT_EQ(std::string(rows.begin(), rows.end()), std::string("\0\0\0x\0\0\0x\0\0\0x", 12));
  });
}

TEST(GpuCopies, ToPinnedMemoryLeaveZerosAndNothingElse) {
  on_a_gpu("fill=zeros", [](const Gpu& gpu) {
    constexpr std::size_t kPinned = 64 << 10;
    void* pinned = nullptr;
    gpu("cudaHostAlloc", &pinned, kPinned, 0U);
    auto* const bytes = static_cast<char*>(pinned);
    std::memset(bytes, 'x', kPinned);
    gpu.copy(bytes + 100, gpu.allocated(kPinned), kPinned - 200);
    EXPECT_EQ(std::count(bytes, bytes + kPinned, '\0'), kPinned - 200);
    EXPECT_EQ(std::count(bytes, bytes + 100, 'x'), 100);
    EXPECT_EQ(std::count(bytes + kPinned - 100, bytes + kPinned, 'x'), 100);
  });
}

TEST(GpuCopies, TellOfWhatWasNeverComputedAlone) {
  on_a_gpu("", [](const Gpu& gpu) {
    void (*const watch)(std::size_t) = [](std::size_t size) { bytes_read += size; };
    gpu("memreplay_gpu_watch_reads", watch);
    const Numbers given(kCount, 5);
    void* const at = gpu.allocated(kSize);
    gpu.copy(at, given.data(), kSize);
    read(gpu, at);
    read(gpu, given.data());
    EXPECT_EQ(bytes_read, 0);
    launch(gpu);
    read(gpu, at, 2);
    EXPECT_EQ(bytes_read, 16);
  });
}

}  // namespace
}  // namespace memreplay::gpu
