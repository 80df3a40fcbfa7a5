// The double catches what it is there to catch.
#include <cuda.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "cuda_fixture.hpp"

namespace memreplay {
namespace {

class StandInDriver : public testing::Test {
 protected:
  void SetUp() override {
    stand_in().reset();
    memory = open_cuda_memory(0, MEMREPLAY_STAND_IN_DRIVER);
  }
  void TearDown() override {
    memory.reset();
    stand_in().reset();
  }
  std::string misuse() const { return stand_in().misuse_text(); }
  bool complained(const char* of) const { return misuse().find(of) != std::string::npos; }

  std::unique_ptr<RealMemory> memory;
};

TEST_F(StandInDriver, AMissingWaitBetweenStreamsShows) {
  Execution& gpu = memory->execution();
  const Address at = memory->allocate(64).value();
  gpu.fill(1, {at, 64}, 1, Touch::all);
  gpu.check(2, {at, 64}, 1, Touch::all);
  EXPECT_EQ(gpu.mismatches().size(), 1u);

  for (StreamIndex stream = 1; stream <= 2; ++stream) {
    gpu.fill(stream, {at, 64}, stream, Touch::all);
    gpu.check(stream, {at, 64}, stream, Touch::all);
  }
  EXPECT_EQ(gpu.mismatches().size(), 1u);
  memory->free(at);
}

TEST_F(StandInDriver, WorkIsPutOffUntilSomethingWaitsForIt) {
  Execution& gpu = memory->execution();
  const Address at = memory->allocate(8).value();
  auto& word = *reinterpret_cast<volatile std::uint64_t*>(at);
  gpu.synchronise();
  word = 5;
  gpu.fill(1, {at, 8}, 1, Touch::all);
  EXPECT_EQ(word, 5u);
  const Execution::Point filled = gpu.record(1);
  gpu.wait(2, filled);
  EXPECT_EQ(word, 5u);
  gpu.wait(gpu.record(2));
  EXPECT_EQ(word, touch_word(1, at));
  memory->free(at);
}

TEST_F(StandInDriver, AnythingLiveIsALeak) {
  EXPECT_EQ(stand_in().leaks(), 1u);  // the context
  (void)memory->allocate(1);
  (void)memory->reserve(2 * kMiB);
  (void)memory->create(2 * kMiB);
  (void)memory->execution().record(0);
  EXPECT_EQ(stand_in().leaks(), 6u) << stand_in().leaks_text();
  memory.reset();
  EXPECT_EQ(stand_in().leaks(), 3u) << stand_in().leaks_text();
}

TEST_F(StandInDriver, WhatIsGivenBackTwiceIsMisuse) {
  const Address region = memory->allocate(1).value();
  memory->free(region);
  EXPECT_THROW(memory->free(region), DeviceError);
  EXPECT_TRUE(complained("cuMemFree")) << misuse();

  const RealMemory::Piece piece = memory->create(2 * kMiB).value();
  memory->destroy(piece);
  EXPECT_THROW(memory->destroy(piece), DeviceError);
  EXPECT_TRUE(complained("cuMemRelease")) << misuse();
  EXPECT_EQ(stand_in().misuse(), 2u);
}

TEST_F(StandInDriver, MappingsAreMadeOnceAndBeforeTheirAddressesGo) {
  const Address at = memory->reserve(4 * kMiB).value();
  const RealMemory::Piece piece = memory->create(2 * kMiB).value();
  EXPECT_THROW(memory->unmap(at, 2 * kMiB), DeviceError);
  EXPECT_THROW(memory->set_access(at, 2 * kMiB), DeviceError);
  EXPECT_THROW(memory->map(at + 4 * kMiB, 2 * kMiB, piece), DeviceError);
  memory->map(at, 2 * kMiB, piece);
  EXPECT_THROW(memory->map(at, 2 * kMiB, piece), DeviceError);
  EXPECT_THROW(memory->release(at, 4 * kMiB), DeviceError);
  EXPECT_EQ(stand_in().misuse(), 5u) << misuse();
  memory->unmap(at, 2 * kMiB);
}

TEST_F(StandInDriver, AKernelWhereNoMemoryIsIsMisuse) {
  Execution& gpu = memory->execution();
  const Address at = memory->reserve(2 * kMiB).value();
  const RealMemory::Piece piece = memory->create(2 * kMiB).value();
  memory->map(at, 2 * kMiB, piece);
  gpu.fill(0, {at, 8}, 1, Touch::all);  // no access yet
  gpu.synchronise();
  EXPECT_EQ(stand_in().misuse(), 1u);
  memory->set_access(at, 2 * kMiB);
  gpu.fill(0, {at + 2 * kMiB - 8, 9}, 1, Touch::edges);  // one byte too many
  gpu.synchronise();
  EXPECT_EQ(stand_in().misuse(), 2u);
  gpu.fill(0, {at, 8}, 1, Touch::all);
  memory->unmap(at, 2 * kMiB);  // too early
  gpu.synchronise();
  EXPECT_EQ(stand_in().misuse(), 3u) << misuse();
}

TEST_F(StandInDriver, AReleasedPieceStaysChargedWhileItIsMapped) {
  const Bytes before = memory->free_bytes();
  const Address at = memory->reserve(2 * kMiB).value();
  const RealMemory::Piece piece = memory->create(2 * kMiB).value();
  memory->map(at, 2 * kMiB, piece);
  memory->destroy(piece);
  EXPECT_EQ(memory->free_bytes(), before - 2 * kMiB);
  memory->unmap(at, 2 * kMiB);
  EXPECT_EQ(memory->free_bytes(), before);
}

TEST_F(StandInDriver, ABlockFreedOnAStreamThatDidNotWaitIsMissed) {
  DriverAllocatorOptions options;
  options.kind = DriverAllocatorOptions::Kind::stream_ordered;
  const auto blocks = memory->open_allocator(options);
  const Address block = blocks->allocate(64, 0, 1).value().address;
  memory->execution().synchronise();
  memory->execution().fill(1, {block, 64}, 1, Touch::all);
  blocks->free(block, 2);
  memory->execution().synchronise();
  EXPECT_EQ(stand_in().misuse(), 1u) << misuse();
}

TEST_F(StandInDriver, ItReportsWhenTheProgramEnds) {
  const std::string path = testing::TempDir() + "stand_in_report.txt";
  const auto end = [&] {
    setenv("STAND_IN_REPORT", path.c_str(), 1);
    (void)memory->allocate(1);
    std::exit(0);
  };
  EXPECT_EXIT(end(), testing::ExitedWithCode(0), "");
  std::stringstream report;
  report << std::ifstream(path).rdbuf();
  EXPECT_EQ(report.str().rfind("leaks 2\nmisuse 0\ncalls ", 0), 0u) << report.str();
}

}  // namespace
}  // namespace memreplay
