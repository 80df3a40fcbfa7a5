#include <gtest/gtest.h>

#include "capture/gpu/gpu.hpp"
#include "core/units.hpp"

namespace memreplay::gpu {
namespace {

Stream stream(const Gpu& gpu) {
  Stream created = nullptr;
  EXPECT_EQ(gpu("cudaStreamCreateWithPriority", &created, 1U, 0), kSuccess);
  return created;
}

Handle event(const Gpu& gpu) {
  Handle created = nullptr;
  EXPECT_EQ(gpu("cudaEventCreateWithFlags", &created, 2U), kSuccess);
  return created;
}

void work(const Gpu& gpu, int pieces) {
  const Dim3 one{1, 1, 1};
  const auto* const kernel = static_cast<const void*>(&gpu);
  for (int i = 0; i < pieces; ++i) {
    gpu("cudaLaunchKernel", kernel, one, one, static_cast<void**>(nullptr), std::size_t{0},
        static_cast<Stream>(nullptr));
  }
}

/// The number of the capture that a stream takes part in; 0: none.
unsigned long long capture_of(const Gpu& gpu, Stream of) {
  int status = 0;
  unsigned long long id = 0;
  Handle graph = nullptr;
  const Handle* dependencies = nullptr;
  std::size_t count = 1;
  gpu("cudaStreamGetCaptureInfo_v2", of, &status, &id, &graph, &dependencies, &count);
  EXPECT_EQ(count, 0);
  EXPECT_EQ(status, id == 0 ? 0 : 1);
  EXPECT_EQ(graph == nullptr, id == 0);
  return id;
}

TEST(GpuEvents, AreCompleteAtOnce) {
  on_a_gpu("lag=0", [](const Gpu& gpu) {
    const Handle recorded = event(gpu);
    EXPECT_EQ(gpu("cudaEventQuery", recorded), kSuccess);
    gpu("cudaEventRecord", recorded, stream(gpu));
    EXPECT_EQ(gpu("cudaEventQuery", recorded), kSuccess);
  });
}

TEST(GpuEvents, WithALagAreCompleteAfterSoMuchWork) {
  on_a_gpu("lag=3", [](const Gpu& gpu) {
    const Handle recorded = event(gpu);
    gpu("cudaEventRecord", recorded, stream(gpu));
    work(gpu, 2);
    EXPECT_EQ(gpu("cudaEventQuery", recorded), kNotReady);
    work(gpu, 1);
    EXPECT_EQ(gpu("cudaEventQuery", recorded), kSuccess);
  });
}

TEST(GpuEvents, AreCompleteForWhoWaitedForThem) {
  on_a_gpu("lag=1000", [](const Gpu& gpu) {
    const Stream ours = stream(gpu);
    const Stream other = stream(gpu);
    const Handle first = event(gpu);
    const Handle second = event(gpu);
    const Handle elsewhere = event(gpu);
    gpu("cudaEventRecord", first, ours);
    gpu("cudaEventRecord", elsewhere, other);
    work(gpu, 1);
    gpu("cudaEventRecord", second, ours);
    gpu("cudaEventSynchronize", first);
    EXPECT_EQ(gpu("cudaEventQuery", first), kSuccess);
    EXPECT_EQ(gpu("cudaEventQuery", second), kNotReady);
    gpu("cudaStreamSynchronize", ours);
    EXPECT_EQ(gpu("cudaEventQuery", second), kSuccess);
    EXPECT_EQ(gpu("cudaEventQuery", elsewhere), kNotReady);
    gpu("cudaDeviceSynchronize");
    EXPECT_EQ(gpu("cudaEventQuery", elsewhere), kSuccess);
  });
}

TEST(GpuCapture, IsJoinedThroughAnEvent) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Stream origin = stream(gpu);
    const Stream joined = stream(gpu);
    const Stream beside = stream(gpu);
    const Handle fork = event(gpu);
    EXPECT_EQ(gpu("cudaStreamBeginCapture", origin, 0), kSuccess);
    gpu("cudaEventRecord", fork, origin);
    EXPECT_EQ(gpu("cudaStreamWaitEvent", joined, fork, 0U), kSuccess);
    EXPECT_NE(capture_of(gpu, origin), 0);
    EXPECT_EQ(capture_of(gpu, joined), capture_of(gpu, origin));
    EXPECT_EQ(capture_of(gpu, beside), 0);
    EXPECT_EQ(gpu("cudaEventQuery", fork), kCaptureUnsupported);
    Handle graph = nullptr;
    EXPECT_EQ(gpu("cudaStreamEndCapture", origin, &graph), kSuccess);
    EXPECT_NE(graph, nullptr);
    EXPECT_EQ(capture_of(gpu, origin), 0);
    EXPECT_EQ(capture_of(gpu, joined), 0);
  });
}

TEST(GpuCapture, IsNotJoinedThroughAnEventOfBefore) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Stream origin = stream(gpu);
    const Stream other = stream(gpu);
    const Handle before = event(gpu);
    gpu("cudaEventRecord", before, origin);
    gpu("cudaStreamBeginCapture", origin, 0);
    gpu("cudaStreamWaitEvent", other, before, 0U);
    EXPECT_EQ(capture_of(gpu, other), 0);
  });
}

TEST(GpuCapture, ThatNeverBeganDoesNotEnd) {
  on_a_gpu("", [](const Gpu& gpu) {
    Handle graph = &graph;
    EXPECT_EQ(gpu("cudaStreamEndCapture", stream(gpu), &graph), kIllegalState);
    EXPECT_EQ(graph, nullptr);
  });
}

TEST(GpuCapture, HasANumberOfItsOwn) {
  on_a_gpu("", [](const Gpu& gpu) {
    const Stream ours = stream(gpu);
    Handle graph = nullptr;
    gpu("cudaStreamBeginCapture", ours, 0);
    const auto first = capture_of(gpu, ours);
    gpu("cudaStreamEndCapture", ours, &graph);
    gpu("cudaStreamBeginCapture", ours, 0);
    EXPECT_NE(capture_of(gpu, ours), first);
  });
}

TEST(GpuStreams, TellTheDriverToThatTheyAreCaptured) {
  on_a_gpu("", [](const Gpu& gpu) {
    Stream stream = nullptr;
    gpu("cudaStreamCreate", &stream);
    int status = 1;
    gpu("cuStreamIsCapturing", stream, &status);
    EXPECT_EQ(status, 0);
    gpu("cudaStreamBeginCapture", stream, 0);
    gpu("cuStreamIsCapturing", stream, &status);
    EXPECT_EQ(status, 1);
  });
}

}  // namespace
}  // namespace memreplay::gpu
