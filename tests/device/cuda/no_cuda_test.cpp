#include <gtest/gtest.h>

#include "device/cuda/cuda_memory.hpp"

namespace memreplay {
namespace {

TEST(CudaMemory, IsTestedWhereTheToolkitIs) { GTEST_SKIP() << "built without the CUDA toolkit"; }

TEST(CudaMemory, WithoutTheToolkitItSaysSo) {
  EXPECT_FALSE(has_cuda());
  EXPECT_THROW(open_cuda_memory(0), DeviceError);
}

}  // namespace
}  // namespace memreplay
