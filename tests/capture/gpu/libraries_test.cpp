#include <gtest/gtest.h>

#include <set>

#include "capture/gpu/gpu.hpp"

namespace memreplay::gpu {
namespace {

// PyTorch keeps a workspace for each handle and stream: the thread of a backward pass has its own.
TEST(GpuLibraries, GiveAnotherHandleEachTime) {
  on_a_gpu("", [](const Gpu& gpu) {
    for (const char* create : {"cublasCreate_v2", "cublasLtCreate", "cudnnCreate",
                               "cusolverDnCreate", "cusparseCreate"}) {
      std::set<Handle> given;
      for (int i = 0; i < 3; ++i) {
        Handle library = nullptr;
        EXPECT_EQ(gpu(create, &library), kSuccess) << create;
        EXPECT_TRUE(given.insert(library).second) << create;
      }
      EXPECT_FALSE(given.contains(nullptr)) << create;
    }
  });
}

}  // namespace
}  // namespace memreplay::gpu
